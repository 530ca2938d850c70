# Reference values for tests of ordinal and logistic mixed models. Run in this folder: Rscript ordinal.R
# ordinal_data.csv holds 240 simulated ratings (0 to 3) of 80 dialogues with 4 systems by 8 annotators.
suppressMessages({library(ordinal); library(lme4)})
options(digits = 12)
d <- read.csv("ordinal_data.csv")
for (v in c("annotator", "dialogue", "system")) d[[v]] <- factor(d[[v]])
out <- data.frame(model = character(), statistic = character(), term = character(), value = numeric())
add <- function(model, statistic, term, value) out[nrow(out) + 1, ] <<- list(model, statistic, term, value)
f <- clmm(factor(score) ~ system + (1 | annotator) + (1 | dialogue), d,
          control = clmm.control(method = "nlminb", gradTol = 1e-8))
add("clmm", "log_likelihood", "", as.numeric(logLik(f)))
for (t in names(f$alpha)) add("clmm", "threshold", t, f$alpha[[t]])
for (t in names(f$beta)) add("clmm", "coefficient", t, f$beta[[t]])
se <- sqrt(diag(vcov(f)))
for (t in names(f$beta)) add("clmm", "se", t, se[[t]])
for (t in c("annotator", "dialogue")) add("clmm", "sd", t, sqrt(as.numeric(VarCorr(f)[[t]])))
r <- ranef(f)$annotator
for (t in rownames(r)) add("clmm", "effect", t, r[t, 1])
v <- condVar(f)$annotator
for (i in seq_along(v[, 1])) add("clmm", "effect_se", rownames(r)[i], sqrt(v[i, 1]))
g <- glmer(as.integer(score > 1) ~ system + (1 | annotator) + (1 | dialogue), d, family = binomial,
           control = glmerControl(optimizer = "bobyqa", tolPwrss = 1e-12, optCtrl = list(rhoend = 1e-10, maxfun = 1e5)))
add("glmer", "log_likelihood", "", as.numeric(logLik(g)))
for (t in names(fixef(g))) add("glmer", "coefficient", t, fixef(g)[[t]])
for (t in c("annotator", "dialogue")) add("glmer", "sd", t, sqrt(as.numeric(VarCorr(g)[[t]])))
add("R", "version", paste(R.version$major, R.version$minor, sep = "."), NA)
add("ordinal", "version", as.character(packageVersion("ordinal")), NA)
add("lme4", "version", as.character(packageVersion("lme4")), NA)
write.csv(out, "ordinal.csv", row.names = FALSE)
