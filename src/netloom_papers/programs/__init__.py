"""Programs of the papers, and what runs them: patterns, transactions, broadcasts."""
