"""Published experiments as data, and the few lines that recompute them."""
