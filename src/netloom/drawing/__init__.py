"""What pictures have in common: colours, frames, names, and how they are written to files."""
