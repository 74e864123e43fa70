"""Pictures of published tables and figures beside the recomputed ones."""
