"""Predict how fast processors communicate over a torus, and what a better mapping gains."""

VERB = "predict_locality"
