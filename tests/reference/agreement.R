# Values that tests/test_resampling.py, test_agreement.py and test_generalizability.py compare with.
# Run in this folder: Rscript agreement.R > agreement.txt
# Lines of the output: name, then numbers.

suppressPackageStartupMessages({library(boot); library(psych)})
options(digits = 15)
say <- function(name, ...) cat(name, format(c(...), digits = 12, trim = TRUE), "\n")
cat("# R", paste(R.version$major, R.version$minor, sep = "."), "boot", as.character(packageVersion("boot")),
    "psych", as.character(packageVersion("psych")), "\n")

# --- bootstrap: BCa of a mean, a correlation, a difference of means in two strata
x <- c(0.2, 0.4, 0.5, 0.9, 1.1, 1.3, 1.4, 1.9, 2.2, 2.4, 2.9, 3.1, 3.8, 4.6, 5.5, 6.1, 7.9, 9.3, 12.4, 17.7)
y <- c(1.1, 0.7, 0.6, 1.4, 0.8, 2.1, 1.2, 2.6, 1.7, 2.2, 2.0, 3.3, 2.9, 2.4, 3.9, 3.1, 4.8, 4.1, 4.4, 6.0)
g <- rep(c(1, 2), c(8, 12))
set.seed(1)
ci <- function(b) boot.ci(b, type = c("bca", "perc"))
report <- function(name, b) { r <- ci(b); say(paste0(name, "_bca"), r$bca[4:5]); say(paste0(name, "_percentile"), r$percent[4:5]) }
report("mean", boot(x, function(d, i) mean(d[i]), R = 400000))
report("correlation", boot(cbind(x, y), function(d, i) cor(d[i, 1], d[i, 2]), R = 200000))
report("strata", boot(cbind(x, g), function(d, i) mean(d[i, 1][d[i, 2] == 2]) - mean(d[i, 1][d[i, 2] == 1]),
                      R = 200000, strata = g))

# --- Krippendorff's alpha of two annotators and two values, 300 items, written out from its definition
pairs <- cbind(rep(c(0, 0, 1, 1), c(200, 22, 18, 60)), rep(c(0, 1, 0, 1), c(200, 22, 18, 60)))
alpha <- function(d) {
  v <- c(d); n <- length(v); n1 <- sum(v)
  1 - (n - 1) * sum(d[, 1] != d[, 2]) / (n1 * (n - n1))
}
say("alpha", alpha(pairs))
report("alpha", boot(pairs, function(d, i) alpha(d[i, ]), R = 200000))

# --- intraclass correlations of six items and four annotators (ratings of Shrout and Fleiss 1979, table 2)
sf <- matrix(c(9, 2, 5, 8, 6, 1, 3, 2, 8, 4, 6, 8, 7, 1, 2, 6, 10, 5, 6, 9, 6, 2, 4, 7), ncol = 4, byrow = TRUE)
icc <- ICC(sf, lmer = FALSE)$results
say("icc", icc$ICC)                       # ICC1 ICC2 ICC3 ICC1k ICC2k ICC3k
say("icc_low", icc$`lower bound`)
say("icc_high", icc$`upper bound`)

# --- Cohen's kappa, plain and with quadratic weights
ratings <- cbind(c(1, 2, 3, 3, 4, 5, 5, 2, 1, 3, 4, 4, 2, 5, 1, 3, 2, 4), c(1, 2, 2, 3, 4, 4, 5, 3, 1, 3, 5, 4, 1, 5, 2, 3, 2, 3))
k <- cohen.kappa(ratings)
say("kappa", k$kappa)
say("kappa_quadratic", k$weighted.kappa)

# --- variance components of a balanced design, dialogues in systems, crossed with annotators, by expected mean squares
s <- 3; d <- 4; a <- 3
design <- expand.grid(annotator = 1:a, dialogue = 1:d, system = 1:s)
design$score <- c(4, 5, 3, 3, 4, 3, 5, 5, 4, 4, 4, 2, 2, 4, 3, 1, 3, 2, 3, 3, 3, 2, 4, 1, 5, 4, 4, 4, 5, 5, 3, 5, 4, 5, 5, 3)
design <- within(design, {system <- factor(system); dialogue <- factor(paste(system, dialogue)); annotator <- factor(annotator)})
ms <- summary(aov(score ~ system * annotator + dialogue + dialogue:annotator, data = design))[[1]][, "Mean Sq"]
names(ms) <- trimws(rownames(summary(aov(score ~ system * annotator + dialogue + dialogue:annotator, data = design))[[1]]))
residual <- ms["dialogue:annotator"]; if (is.na(residual)) residual <- ms["annotator:dialogue"]
sa <- (ms["system:annotator"] - residual) / d
dialogue <- (ms["dialogue"] - residual) / a
annotator <- (ms["annotator"] - ms["system:annotator"]) / (s * d)
system <- (ms["system"] - ms["system:annotator"] - ms["dialogue"] + residual) / (d * a)
say("components", system, annotator, sa, dialogue, residual)   # system annotator system:annotator dialogue residual
nested <- summary(aov(score ~ system + dialogue, data = design))[[1]][, "Mean Sq"]
say("components_nested", (nested[1] - nested[2]) / (d * a), (nested[2] - nested[3]) / a, nested[3])
