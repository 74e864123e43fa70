"""Models that only the papers have."""
