"""Replay a trace of messages with all its dependencies, and divide its time among causes."""

VERB = "replay"
