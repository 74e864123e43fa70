"""Predict the latency of packets by load, and where a network saturates."""

VERB = "predict_latency"
