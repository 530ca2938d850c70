# Reference values for tests of validity, coverage and logit. Run in this folder: Rscript regression.R
# regression_data.csv holds 40 made-up dialogues: y a rating, chosen a choice, `rare` marks three that were all chosen.
options(digits = 15)
d <- read.csv("regression_data.csv")
out <- data.frame(model = character(), statistic = character(), term = character(), value = numeric())
add <- function(model, statistic, term, value) {
  out[nrow(out) + 1, ] <<- list(model, statistic, term, value)
}
linear <- list(one = y ~ steady, three = y ~ steady + rare + count)
for (m in names(linear)) {
  s <- summary(lm(linear[[m]], d))
  f <- s$fstatistic
  add(m, "r2", "", s$r.squared)
  add(m, "adjusted_r2", "", s$adj.r.squared)
  add(m, "f_test", "", f[[1]])
  add(m, "f_test_p", "", pf(f[[1]], f[[2]], f[[3]], lower.tail = FALSE))
}
logistic <- list(one = chosen ~ steady, two = chosen ~ steady + count)
for (m in names(logistic)) {
  g <- glm(logistic[[m]], binomial, d, control = glm.control(epsilon = 1e-14, maxit = 100))
  null <- glm(chosen ~ 1, binomial, d, control = glm.control(epsilon = 1e-14, maxit = 100))
  a <- anova(null, g, test = "LRT")
  add(m, "log_likelihood", "", as.numeric(logLik(g)))
  add(m, "mcfadden_r2", "", 1 - as.numeric(logLik(g)) / as.numeric(logLik(null)))
  add(m, "llr", "", a$Deviance[2])
  add(m, "llr_p", "", a$`Pr(>Chi)`[2])
  for (t in names(coef(g))) add(m, "coefficient", t, coef(g)[[t]])
}
# Firth: the penalised likelihood maximised by a general-purpose optimiser, no code shared with the helpers
penalised <- function(beta, X, y) {
  eta <- drop(X %*% beta)
  p <- plogis(eta)
  w <- p * (1 - p)
  sum(y * plogis(eta, log.p = TRUE) + (1 - y) * plogis(-eta, log.p = TRUE)) +
    as.numeric(determinant(t(X) %*% (X * w))$modulus) / 2
}
best <- function(X, y) {
  b <- rep(0, ncol(X))
  for (i in 1:20) b <- optim(b, penalised, X = X, y = y, method = "BFGS",
                             control = list(fnscale = -1, reltol = 1e-16, maxit = 5000, ndeps = rep(1e-5, ncol(X))))$par
  b
}
firth <- list(separated = chosen ~ steady + rare, all = chosen ~ steady + rare + count)
for (m in names(firth)) {
  X <- model.matrix(firth[[m]], d)
  b <- best(X, d$chosen)
  top <- penalised(b, X, d$chosen)
  add(m, "firth_log_likelihood", "", top)
  for (j in seq_len(ncol(X))) {
    add(m, "firth_coefficient", colnames(X)[j], b[j])
    without <- function(beta) { full <- rep(0, ncol(X)); full[-j] <- beta; penalised(full, X, d$chosen) }
    beta <- rep(0, ncol(X) - 1)
    for (i in 1:20) beta <- optim(beta, without, method = "BFGS", control = list(
      fnscale = -1, reltol = 1e-16, maxit = 5000, ndeps = rep(1e-5, length(beta))))$par
    add(m, "firth_p", colnames(X)[j], pchisq(2 * (top - without(beta)), 1, lower.tail = FALSE))
  }
}
out$value <- format(out$value, digits = 12, scientific = FALSE, trim = TRUE)
out$source <- R.version.string
write.csv(out, "regression.csv", row.names = FALSE, quote = c(1, 2, 3, 5))
