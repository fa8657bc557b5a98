"""The second stage: models of the noise variance, trained on the first stage's residuals."""
