"""The toy question is declared by its own test only."""

collect_ignore = ["toy_question.py"]
