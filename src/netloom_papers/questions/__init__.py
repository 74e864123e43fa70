"""Questions on the machines and models of the papers."""

GROUP = "From the papers"
"""The title of these questions' commands in the help."""
