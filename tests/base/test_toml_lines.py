import tomllib

from netloom.base.textfiles import find_lines

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


def test_what_looks_like_a_head_or_a_key_is_none_in_strings_and_lists():
    text = """
question = '''
[simulate]
load = 3
'''
predict.wiring.nodes = 4
[analyze]
app = [ # [map]
  ["a@0", "b@1"]
]
on = "it's = [x]"
["predict"."latency"]
router.vcs = 2
"""
    tomllib.loads(text)
    assert find_lines(text) == {
        ("", 0, "question"): 2,
        ("", 0, "predict"): 6,
        ("predict", 0, ""): 6,
        ("predict", 0, "wiring"): 6,
        ("predict.wiring", 0, ""): 6,
        ("predict.wiring", 0, "nodes"): 6,
        ("analyze", 0, ""): 7,
        ("analyze", 0, "app"): 8,
        ("analyze", 0, "on"): 11,
        ("predict.latency", 0, ""): 12,
        ("predict.latency", 0, "router"): 13,
        ("predict.latency.router", 0, ""): 13,
        ("predict.latency.router", 0, "vcs"): 13,
    }
