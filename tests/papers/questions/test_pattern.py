import json
from dataclasses import replace
from math import inf

import pytest

from netloom import simulate_pattern
from netloom.base.errors import InputError
from netloom.machines import machine
from netloom.machines.named_machines import MessageCost

COST = MessageCost.model_construct(up_to_bytes=inf, startup_us=0, per_byte_us=0.05)
FREE = machine("symult2010:3x3").model_copy(update={"message_costs": (COST,)})


def test_the_transpose_is_held_up_where_paths_share_channels():
    table = simulate_pattern(
        "symult2010:12x12", pattern="transpose", think_us="0,4000", loops=30
    ).table()
    busy, idle = table["slowdown_max"].to_list()
    assert busy > 1.5
    assert idle < 1.15
    assert table["worst_node"][0] < 1 / 11  # what the shared channel can carry


def test_a_machine_of_one_s_own():
    found = simulate_pattern(FREE, pattern="diagonal", message_bytes=256, think_us=0, loops=5)
    assert found.points[0].message_us == pytest.approx(12.8)
    assert len(found.nodes) == 2


def test_the_answer_can_be_asked_again():
    options = {"pattern": "AB-4NN", "message_bytes": "100,300", "think_us": 50, "loops": 5}
    found = simulate_pattern("symult2010:4x4", **options)
    data = json.loads(json.dumps(found.to_dict()))
    again = simulate_pattern(**data["provenance"]["configuration"])
    assert again.to_dict()["points"] == data["points"]


def test_what_was_interrupted_says_so():
    found = simulate_pattern("symult2010:4x4", pattern="ab-1nn", loops=5)
    said = replace(found, interrupted=True).to_dict()["verdict"]
    assert said["mark"] == "unknown"
    assert said["sentence"].startswith("Interrupted: messages take up to ")


@pytest.mark.parametrize(
    ("on", "wrong", "said"),
    [
        ("symult2010:4x4", {"pattern": "ring"}, "pattern"),
        ("symult2010:4x4", {"message_bytes": 0}, "message_bytes"),
        ("symult2010:4x4", {"message_bytes": 1.5}, "message_bytes"),
        ("symult2010:4x4", {"think_us": -1}, "think_us"),
        ("mesh:4x4", {}, "start-up times"),
        ("mesh:4x5", {}, "square"),
        ("torus:4x4x4", {}, "square"),
    ],
)
def test_what_cannot_be_is_refused(on, wrong, said):
    with pytest.raises(InputError, match=said):
        simulate_pattern(on, loops=2, **wrong)
