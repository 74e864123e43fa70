"""Find the load at which a network saturates."""
