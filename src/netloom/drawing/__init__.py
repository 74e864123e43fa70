"""Pictures: networks as scenes, curves and bars, and how they are written to files."""
