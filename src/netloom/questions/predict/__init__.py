"""Predict latency, saturation and the worth of a mapping from models, in no time."""
