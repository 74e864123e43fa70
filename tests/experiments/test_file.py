import pytest

from netloom.base.errors import InputError
from netloom.experiments.file import read_experiment
from tests.experiments.small import RING, experiment, write


def test_lists_and_ranges_make_a_grid(tmp_path):
    found = experiment(tmp_path)
    assert (found.title, found.question) == ("small", "Which carries more?")
    of_simulate = [point for point in found.points if point.section == "simulate"]
    assert len(of_simulate) == 2 * 3 * 2
    assert [point.varied for point in of_simulate[:3]] == [
        {"on": "torus:4x4", "load": 0.3, "seed": 1},
        {"on": "torus:4x4", "load": 0.3, "seed": 2},
        {"on": "torus:4x4", "load": 0.6, "seed": 1},
    ]
    assert {point.verb for point in found.points} == {"simulate", "predict_latency", "analyze"}
    assert len({point.key for point in found.points}) == len(found.points)
    assert len({point.curve for point in of_simulate}) == 2
    assert list(found.inputs) == ["ring.mtx"]


def test_the_key_is_of_everything_that_the_answer_depends_on(tmp_path):
    text = "[analyze]\napp='ring.mtx'\non='mesh:2x2'\n"
    (first,) = experiment(tmp_path, text).points
    (again,) = experiment(tmp_path / "elsewhere", text).points
    (default,) = experiment(tmp_path, text + "tasks_per_node=1").points
    assert first.key == again.key == default.key
    (other,) = experiment(tmp_path, text + "tasks_per_node=2").points
    assert other.key != first.key
    path = write(tmp_path, text)
    (tmp_path / "ring.mtx").write_text(RING.replace("4 1 8", "4 1 9"))
    (changed,) = read_experiment(path).points
    assert changed.key != first.key


WRONG = [
    ("[analyse]\n", 1, r"\[analyse\]: found no", "analyze, perhaps"),
    ("title = 3\n[analyze]\n", 1, "title", "words"),
    ("titel = 'x'\n", 1, "titel", "title, perhaps"),
    ("", 1, "no questions", "a table such as"),
    ("[analyze]\non='mesh:4x4'\napp=[\n ['a@0', 'b@1']\n]\nvcs=2\n", 6, "vcs", "expected"),
    ("title='t'\npredict.wiring.nods = 4\n", 2, "nods", "nodes, perhaps"),
    ("[all]\nload=0.1\n[x]\n[simulate]\n", 3, "x", "expected"),
    ("\nsimulate = [{on='mesh:4x4', lod=1}]\n", 2, "lod", "load, perhaps"),
    ("[analyze]\non='mesh:2x2'\napp='" + "x" * 300 + "'\n", 3, "app", "a name of a file"),
    ("[simulate]\non='mesh:4x4'\nlod = 0.1\n", 3, r"\[simulate\] lod", "load, perhaps"),
    ("[simulate]\non='mesh:4x4'\nload=0.1\n\nvcs = 'two'\n", 5, "vcs", "a valid integer"),
    ("[simulate]\non='mesh:4x4'\nload = [0.1, 1.5]\n", 3, "load", "at most 1"),
    ("[simulate]\non='mesh:4x4'\nload=0.1\nrepeat = 0\n", 4, "repeat", "from 1 to"),
    ("[simulate]\nload=0.1\n", 1, "on", "Network"),
    ("[simulate.loop]\non='mesh:4x4'\napplied=0.1\ncycles=9\n", 4, "cycles", "no such field"),
    ("[simulate]\nload=0.1\non = ['mesh:4x4', 'mash:4x4']\n", 3, "on: topology 'mash:4x4'", "mesh"),
    ("[all]\nonn='mesh:4x4'\n[analyze]\napp='ring:4'\non='mesh:2x2'\n", 2, "onn", "on, perhaps"),
    ("[predict]\nlatency = 3\n", 2, "latency", "a table"),
    ("[predict.latencies]\n", 1, r"\[predict.latencies\]: found", "predict.latency, perhaps"),
    ("[predict.wiring]\nrepeat = 2\n", 2, "repeat", "no repetitions"),
    ("[predict.torus-broadcast]\nsides = [4, 2]\n", 2, "sides", "sides = [[...]]"),
    ("[map]\napp='ring:16'\non='mesh:4x4'\nseconds = 3\n", 4, "seconds", "rounds instead"),
    ("[analyze]\nseed={from=1,to=1001}\n", 2, "seed", "at most 1000"),
    ("[analyze]\nrepeat=9999\ntasks_per_node={from=1,to=999}\n", 1, "points", "1,000,000"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "where", "wanted"), WRONG)
def test_what_is_wrong_is_named_with_its_line(tmp_path, text, line, where, wanted):
    path = write(tmp_path, text)
    with pytest.raises(InputError, match=where) as caught:
        read_experiment(path)
    said = str(caught.value)
    assert wanted in said
    assert "\n" not in said
    if text:
        assert said.startswith(f"{path}:{line}: ")


def test_what_is_no_toml(tmp_path):
    with pytest.raises(InputError, match="line 2"):
        read_experiment(write(tmp_path, "[analyze]\napp = \n"))
    for text in ("[simulate]\nseed = " + "9" * 5000, "[simulate]\nseed = " + "[" * 5000):
        with pytest.raises(InputError, match="no TOML"):
            read_experiment(write(tmp_path, text))
    with pytest.raises(InputError, match="no such file"):
        read_experiment(tmp_path / "none.toml")


def test_tables_are_named_as_commands_are_and_repeat_what_chance_decides(tmp_path):
    text = """
    [all]
    repeat = 3
    on = "mesh:4x4"
    [simulate]
    load = 0.1
    seed = 5
    [[analyze]]
    app = "ring.mtx"
    [[analyze]]
    app = "ring.mtx"
    repeat = 1
    [[analyze]]
    app = "ring.mtx"
    seed = [9, 4, 9]
    [predict.wiring]
    nodes = "16"
    [simulate.trace]
    trace = "t.csv"
    [hotspot.critical-queue]
    pes = 16
    [map]
    app = "ring:16"
    repeat = 1
    """
    points = experiment(tmp_path, text).points
    found = {}
    for point in points:
        found.setdefault((point.section, point.verb), []).append(point.varied.get("seed"))
    assert found == {
        ("simulate", "simulate"): [5, 6, 7],
        ("analyze", "analyze"): [1, 2, 3],
        ("analyze#2", "analyze"): [None],
        ("analyze#3", "analyze"): [9, 4],
        ("predict.wiring", "predict_wiring"): [None],
        ("simulate.trace", "replay"): [1, 2, 3],
        ("hotspot.critical-queue", "find_critical_queue"): [1, 2, 3],
        ("map", "find_mapping"): [None],
    }
    assert points[-1].fields["rounds"] > 0  # a search in seconds would not repeat
