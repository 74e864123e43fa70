"""One page that needs nothing else: the question, the verdict in words, charts and numbers."""
