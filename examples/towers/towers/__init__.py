"""Questions on towers, for netloom."""

GROUP = "Towers"
