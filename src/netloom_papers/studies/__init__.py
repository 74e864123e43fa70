"""Published experiments as data, and the few lines that recompute them."""

from netloom_papers.studies.validation import Row, Validation, validate

__all__ = ["Row", "Validation", "validate"]
