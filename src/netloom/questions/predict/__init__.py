"""Predict latency, saturation and the gain of a mapping from models."""
