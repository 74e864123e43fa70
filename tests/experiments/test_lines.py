import tomllib

from netloom.experiments.lines import find_lines

TEXT = """# a comment, key = 1
title = "x"

[all]
on = ["torus:4x4",
      "mesh:4x4"]   # load = 2

[[simulate]]
load = 0.1
"packet_flits" = 3
[[simulate]]  # the second
  load = 0.2
[predict . latency]
vcs = 1
"""


def test_every_key_is_found_in_its_table():
    tomllib.loads(TEXT)
    assert find_lines(TEXT) == {
        ("", 0, "title"): 2,
        ("all", 0, ""): 4,
        ("all", 0, "on"): 5,
        ("simulate", 0, ""): 8,
        ("simulate", 0, "load"): 9,
        ("simulate", 0, "packet_flits"): 10,
        ("simulate", 1, ""): 11,
        ("simulate", 1, "load"): 12,
        ("predict.latency", 0, ""): 13,
        ("predict.latency", 0, "vcs"): 14,
    }
