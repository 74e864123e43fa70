"""Published experiments as data, and the few lines that recompute them."""

from netloom_papers.ledger import Row, Validation, validate

__all__ = ["Row", "Validation", "validate"]
