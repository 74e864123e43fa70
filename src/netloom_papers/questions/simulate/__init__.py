"""Programs that only the papers have."""
