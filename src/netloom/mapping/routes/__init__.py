"""Routes that are chosen together with a mapping."""
