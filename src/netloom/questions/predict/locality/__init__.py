"""Predict what a better mapping is worth to processors that wait for a torus."""

VERB = "predict_locality"
