"""The former place of what rows are."""

from netloom_papers.ledger import (
    CAUSES,
    CLASSES,
    KINDS,
    causes,
    count,
    distinct,
    kind_of,
    rates,
)

__all__ = ["CAUSES", "CLASSES", "KINDS", "causes", "count", "distinct", "kind_of", "rates"]
