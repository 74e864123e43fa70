"""Predict the latency of messages on a wormhole torus, of which a part is broadcast."""

VERB = "predict_torus_broadcast"
