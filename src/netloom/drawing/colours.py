"""The colours of all pictures: to be told apart on white, and on near-black."""

COLOURS = ["#c8323a", "#2b6cb0", "#2f855a", "#b7791f", "#7c5cd0"]
"""One a series. Each has a contrast of 3 at least to white, and to #111418."""

GREY = "#7d8896"
"""What is there to compare with: limits, diagonals, other mappings. As readable as the others."""

LOAD_COLOURS = ["#e3e6ea", "#f6c886", "#e8743b", "#a50f15"]
"""From channels that carry nothing to the busiest, on white."""

DARK_LOAD_COLOURS = ["#333a44", "#8a5526", "#e8743b", "#ffb199"]
"""The same on near-black.

Parts name neither: their scale is Vega's ``ramp``, so that one part fits both backgrounds.
"""

HEAT_COLOURS = ["#e4e7eb", "#c3c9d1", "#f0b06c", "#e0632f", "#ab1a27", "#560a22"]
"""Channels of a network, on white: grey up to the mean, which is the second, and hot above it."""

DARK_HEAT_COLOURS = ["#353e48", "#525d6a", "#9c6026", "#e8743b", "#ffa182", "#ffe9df"]
"""The same on near-black. Parts name neither: their scale is Vega's ``heatmap``."""

CHANGE_COLOURS = ["#08306b", "#4a90c9", "#dde1e6", "#e8743b", "#a50f15"]
"""What channels carry less, the same, and more than before, on white."""

DARK_CHANGE_COLOURS = ["#b3dcff", "#3f8fd0", "#3a434e", "#d9622b", "#ffc2a8"]
"""The same on near-black. Parts name neither: their scale is Vega's ``diverging``."""


def network_styles(
    ink: str, quiet: str, paper: str, box: str, bundle: str
) -> dict[str, dict[str, object]]:
    """Return what the styles of a network's boxes, words and discs are on one background."""
    return {
        "network-box": {"color": box, "fill": box},
        "network-bar": {"color": ink, "fill": ink},
        "network-frame": {"color": quiet, "fill": None, "stroke": quiet, "strokeWidth": 0.6},
        "network-mark": {"color": ink, "strokeWidth": 2},
        "network-bundle": {"color": bundle, "fill": None},
        "network-rim": {"color": ink, "fill": None},
        "network-name": {"color": quiet, "fill": quiet},
        "network-heading": {"color": ink, "fill": ink, "fontWeight": 600},
        "network-disc": {"color": ink, "fill": ink, "stroke": paper, "strokeWidth": 1.5},
        "network-number": {"color": paper, "fill": paper, "fontWeight": 700},
    }


STYLES = network_styles("#1c232b", "#4f5a66", "#ffffff", "#eceff3", "#d9dde3")
DARK_STYLES = network_styles("#e8ebef", "#a9b3be", "#181c22", "#2b333d", "#39424d")
"""The styles of pictures of networks on white and on near-black."""
