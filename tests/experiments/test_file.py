import pytest

from netloom.base.errors import InputError
from netloom.experiments.file import Point, read_experiment
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


@pytest.mark.parametrize(
    ("table", "verb"),
    [
        ("[simulate]\non='mesh:4x4'\nload=0.1", "simulate"),
        ("[simulate.loop]\non='mesh:4x4'\napplied=0.1", "simulate_loop"),
        ("[simulate.trace]\non='mesh:4x4'\ntrace='t.csv'", "replay"),
        ("[simulate.saturation]\non='mesh:4x4'", "find_saturation"),
        ("[predict.locality]\nnodes=64", "predict_locality"),
        ("[predict.torus-broadcast]\nk=4", "predict_torus_broadcast"),
        ("[predict.wiring]\nnodes=64", "predict_wiring"),
        ("[hotspot]\npes=16", "simulate_hot_spots"),
        ("[hotspot.critical-queue]\npes=16", "find_critical_queue"),
        ("[compile]\napp='ring:16'\non='mesh:4x4'", "compile_phases"),
        ("[map]\napp='ring:16'\non='mesh:4x4'", "find_mapping"),
    ],
)
def test_tables_are_named_as_commands_are(tmp_path, table, verb):
    (point,) = experiment(tmp_path, table).points
    assert point.verb == verb


def test_several_tables_of_a_name_and_of_subcommands(tmp_path):
    text = """
    [[simulate]]
    load = 0.1
    on = "mesh:4x4"
    [[simulate]]
    load = 0.2
    on = "mesh:4x4"
    [simulate.saturation]
    on = "mesh:4x4"
    [[predict.wiring]]
    nodes = 16
    [[predict.wiring]]
    nodes = 64
    """
    sections = [point.section for point in experiment(tmp_path, text).points]
    assert sections == [
        "simulate", "simulate#2", "simulate.saturation", "predict.wiring", "predict.wiring#2",
    ]  # fmt: skip


def test_a_list_of_seeds_and_repetitions(tmp_path):
    text = "[simulate]\non='mesh:4x4'\nload=0.1\n"
    seeds = [p.fields["seed"] for p in experiment(tmp_path, text + "repeat=3\nseed=5").points]
    assert seeds == [5, 6, 7]
    listed = [p.fields["seed"] for p in experiment(tmp_path, text + "seed=[9,4]").points]
    assert listed == [9, 4]


def test_a_mapping_search_is_in_rounds(tmp_path):
    (point,) = experiment(tmp_path, "[map]\napp='ring:16'\non='mesh:4x4'").points
    assert point.fields["rounds"] > 0


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


def test_the_key_has_the_code(monkeypatch):
    fields = {"on": "mesh:2x2", "app": "ring:4"}
    before = Point("analyze", "analyze", fields, {})
    monkeypatch.setattr("netloom.experiments.file.code_version", lambda: "next")
    assert Point("analyze", "analyze", fields, {}).key != before.key


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


def test_what_a_list_says_twice_is_one_point(tmp_path):
    text = "[analyze]\non=['mesh:2x2', 'mesh:2x2']\napp='ring:4'\nseed=[1, 1, 2]\n"
    assert [p.fields["seed"] for p in experiment(tmp_path, text).points] == [1, 2]


def test_a_load_that_is_left_out_makes_no_curve(tmp_path):
    (point,) = experiment(tmp_path, "[hotspot]\npes=16\n").points
    assert (point.sweep, point.level) == ("", 0.0)


def test_repetitions_for_all_are_of_those_that_chance_decides(tmp_path):
    text = """
    [all]
    repeat = 3
    on = "mesh:4x4"
    [simulate]
    load = 0.1
    [[analyze]]
    app = "ring.mtx"
    [[analyze]]
    app = "ring.mtx"
    repeat = 1
    [[analyze]]
    app = "ring.mtx"
    seed = [7, 9]
    [predict.wiring]
    nodes = "16"
    """
    points = experiment(tmp_path, text).points
    found = [(point.section, point.varied.get("seed")) for point in points]
    own = [("analyze#2", None), ("analyze#3", 7), ("analyze#3", 9), ("predict.wiring", None)]
    thrice = [(name, seed) for name in ("simulate", "analyze") for seed in (1, 2, 3)]
    assert sorted(found, key=str) == sorted([*thrice, *own], key=str)


def test_a_wrong_number_of_repetitions_for_all_is_named_there(tmp_path):
    text = "[all]\non = 'mesh:4x4'\nrepeat = 0\n[analyze]\napp = 'ring.mtx'\n"
    with pytest.raises(InputError, match=r"small\.toml:3: \[analyze\] repeat: found 0"):
        experiment(tmp_path, text)
