"""One file a question, and the one function that answers it."""

from netloom.verbs.analysis import Analysis
from netloom.verbs.analyze import AnalyzeQuestion, analyze

__all__ = ["Analysis", "AnalyzeQuestion", "analyze"]
