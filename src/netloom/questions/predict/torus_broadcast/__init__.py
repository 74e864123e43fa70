"""Predict the latency of messages on an adaptive torus, of which a part is broadcast."""

VERB = "predict_torus_broadcast"
