"""What pictures have in common: colors, frames, names, and how they are written to files."""
