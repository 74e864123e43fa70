"""The page of an explorer: its template, style and script."""
