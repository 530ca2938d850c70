# Pairwise differences of systems by mixed models, for data sets simulated by sharpness.py, which runs this as
#   Rscript sharpness.R KIND IN.csv OUT.csv
# KIND: lmer (Satterthwaite) or kr (Kenward and Roger).
# IN: data_set, system, item, context, annotator, score. OUT: one row per data set and pair, with the half-width of the
# simultaneous interval by Tukey's range. Terms that a design does not tell apart are left out.
suppressPackageStartupMessages({library(lme4); library(lmerTest); library(emmeans)})
args <- commandArgs(TRUE)
kind <- args[1]
emm_options(lmerTest.limit = 1e6, pbkrtest.limit = 1e6, disable.lmerTest = FALSE)
same <- function(a, b) nlevels(interaction(a, b, drop = TRUE)) == max(nlevels(a), nlevels(b)) && nlevels(a) == nlevels(b)
terms_of <- function(d) {
  kept <- list()
  for (name in c("item", "context", "annotator", "taste")) {
    f <- d[[name]]
    one <- nlevels(interaction(d$system, f, drop = TRUE)) == nlevels(d$system)
    single <- nlevels(f) == nrow(d)
    if (nlevels(f) > 1 && !one && !single && !any(sapply(kept, function(k) same(d[[k]], f)))) kept <- c(kept, name)
  }
  unlist(kept)
}
fitted <- function(d) {
  d$taste <- interaction(d$annotator, d$system, drop = TRUE)
  for (name in c("system", "item", "context", "annotator")) d[[name]] <- factor(d[[name]])
  formula <- reformulate(c("system", sprintf("(1 | %s)", terms_of(d))), "score")
  fit <- lmerTest::lmer(formula, d)
  means <- emmeans(fit, "system", lmer.df = if (kind == "kr") "kenward-roger" else "satterthwaite", data = d)
  out <- as.data.frame(pairs(means, adjust = "none"))
  pair <- combn(levels(d$system), 2)
  data.frame(first = pair[1, ], second = pair[2, ], estimate = out$estimate, se = out$SE, df = out$df,
             half = qtukey(0.95, nlevels(d$system), out$df) / sqrt(2) * out$SE)
}
data <- read.csv(args[2])
parts <- lapply(split(data, data$data_set), function(d) tryCatch(
  cbind(data_set = d$data_set[1], suppressWarnings(suppressMessages(fitted(d)))), error = function(e) NULL))
write.csv(do.call(rbind, parts), args[3], row.names = FALSE, quote = FALSE)
