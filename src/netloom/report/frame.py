"""What every picture has round its parts: what it shows, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import altair as alt


def framed(
    parts: Sequence[alt.Chart | alt.LayerChart | alt.VConcatChart], title: str, words: list[str]
) -> alt.HConcatChart:
    """Return charts side by side, under a title and lines of words."""
    import altair as alt

    whole: alt.HConcatChart = (
        alt.hconcat(*parts, spacing=36)
        .properties(
            title=alt.TitleParams(
                title,
                subtitle=words,
                anchor="start",
                fontSize=17,
                subtitleFontSize=12.5,
                subtitlePadding=6,
                offset=18,
            )
        )
        .resolve_scale(color="independent")
        .configure(background="white", padding=18, view=alt.ViewConfig(stroke=None))
    )
    return whole
