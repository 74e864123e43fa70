"""Replay a trace of messages with its dependencies, and divide its time by cause."""

VERB = "replay"
