"""What several files of tests begin with."""

from netloom import analyze


def file_of(folder, text, name="some.csv"):
    """Write a file, and return its path."""
    path = folder / name
    path.write_text(text)
    return path


def quick(app, on, **options):
    """Analyze one mapping, beside no others."""
    return analyze(app, on, random_mappings=0, **options)
