# Reference values for tests of rates and mixed models.
# Run in this folder: Rscript effects.R. It reads mixed_data.csv (made-up ratings: 40 dialogues of 4 systems,
# 7 annotators, three of them a dialogue) and writes effects.csv.
library(nlme)
options(digits = 15)
out <- data.frame(name = character(), value = numeric())
add <- function(name, value) out[nrow(out) + 1, ] <<- list(name, as.numeric(value))

# rates and means
w <- prop.test(37, 120, correct = FALSE)$conf.int
add("wilson_low", w[1]); add("wilson_high", w[2])
w <- prop.test(0, 15, correct = FALSE, conf.level = 0.9)$conf.int
add("wilson_none_low", w[1]); add("wilson_none_high", w[2])
t <- t.test(c(1, 2, 2, 3, 5, 5, 4))$conf.int
add("t_low", t[1]); add("t_high", t[2])

# crossed random effects of annotators and dialogues, system means fixed
d <- groupedData(score ~ 1 | one, transform(read.csv("mixed_data.csv"), one = 1))
d$annotator <- factor(d$annotator); d$dialogue <- factor(d$dialogue); d$system <- factor(d$system)
fit <- lme(score ~ system - 1, data = d,
           random = list(one = pdBlocked(list(pdIdent(~ annotator - 1), pdIdent(~ dialogue - 1)))),
           control = lmeControl(tolerance = 1e-10, msTol = 1e-12, maxIter = 500, msMaxIter = 500))
v <- VarCorr(fit)
variance <- as.numeric(v[, "Variance"])
add("lme_annotator", variance[grep("^annotator", rownames(v))[1]])
add("lme_dialogue", variance[grep("^dialogue", rownames(v))[1]])
add("lme_residual", fit$sigma^2)
for (s in levels(d$system)) {
  add(paste0("lme_mean_", s), fixef(fit)[[paste0("system", s)]])
  add(paste0("lme_se_", s), sqrt(vcov(fit)[paste0("system", s), paste0("system", s)]))
}
out$source <- paste(R.version.string, "nlme", packageVersion("nlme"))
write.csv(transform(out, value = sprintf("%.12g", value)), "effects.csv", row.names = FALSE, quote = FALSE)
