# Reference values for the model of ratings: differences of systems by lme4, with Satterthwaite's degrees of freedom
# (lmerTest) and Kenward and Roger's (pbkrtest), p-values of each pair alone, and estimated variances.
# Run in this folder: Rscript ratings.R. It reads ratings_data.csv (made-up ratings) and writes ratings.csv.
suppressPackageStartupMessages({library(lme4); library(lmerTest); library(emmeans)})
data <- read.csv("ratings_data.csv")
data$taste <- interaction(data$annotator, data$system); data$of_run <- interaction(data$run, data$system)
random <- list("balanced" = "item", "unbalanced" = "item", "missing cells" = c("item", "context"),
               "no variance of tastes" = "item", "no variance of items" = c("item", "context"),
               "Likert, two annotators" = c("item", "context"), "one judgement each" = NULL,
               "three runs" = c("of_run", "item"))
precise <- lmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-10, maxfun = 1e5))
rows <- lapply(names(random), function(name) {
  d <- droplevels(subset(data, data_set == name))
  terms <- sprintf("(1 | %s)", c(random[[name]], "annotator", "taste"))
  fixed <- c("system", if ("of_run" %in% random[[name]]) "run")
  fit <- lmerTest::lmer(reformulate(c(fixed, terms), "score"), d, control = precise)
  of <- function(how) as.data.frame(pairs(emmeans(fit, "system", lmer.df = how, data = d), adjust = "none"))
  s <- of("satterthwaite"); k <- of("kenward-roger")
  v <- as.data.frame(VarCorr(fit)); v <- setNames(v$vcov, v$grp)
  part <- function(name) if (name %in% names(v)) v[[name]] else NA
  pair <- combn(sort(unique(as.character(d$system))), 2)
  data.frame(data_set = name, first = pair[1, ], second = pair[2, ], estimate = s$estimate, se = s$SE, df = s$df,
             p = s$p.value, se_kr = k$SE, df_kr = k$df,
             run = part("of_run"), item = part("item"), context = part("context"),
             annotator = part("annotator"), taste = part("taste"), residual = part("Residual"))
})
out <- do.call(rbind, rows)
number <- sapply(out, is.numeric)
out[number] <- lapply(out[number], function(x) ifelse(is.na(x), "", sprintf("%.8g", x)))
out$source <- paste(R.version.string, "lme4", packageVersion("lme4"), "lmerTest", packageVersion("lmerTest"),
                    "pbkrtest", packageVersion("pbkrtest"))
write.csv(out, "ratings.csv", row.names = FALSE, quote = match(c("data_set", "source"), names(out)))
