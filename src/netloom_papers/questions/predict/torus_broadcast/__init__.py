"""Predict message latency on a wormhole torus with some broadcasts."""

VERB = "predict_torus_broadcast"
