"""Closed forms and fixed points of the papers: wiring, combining, locality, tori."""
