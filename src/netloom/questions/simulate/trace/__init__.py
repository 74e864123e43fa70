"""Replay a trace of messages that wait for one another."""

VERB = "replay"
