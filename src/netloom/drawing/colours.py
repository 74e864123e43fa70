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
