"""Measured machines: folders that are read, rows that are judged, and packets that were counted."""

from pathlib import Path

import polars as pl
import pytest

from netloom import InputError
from netloom_papers.measured_machines import GOALS, NEAR, choices, errors_by_size, judge, page
from netloom_papers.measurements import read_folder

SET = """
[[set]]
name = "made up"
file = "times.csv"
network = { "4" = "leaf-spine:2x2x2", "2x4" = "torus:2x4" }
options = { bandwidth = "1GB/s", latency = "1us" }
algorithms = { "all-reduce/ring*" = "ring", "slow" = ["linear", "ring"] }
ignored = { "ring_forced" = "the library took another" }
calibrates = [{ algorithm = "ring", bytes = 1000000, nodes = "4", fixes = "a rate" }]
"""

OPEN = SET.partition("calibrates")[0]

WIDE = """# made up
run,nodes,collective,algorithm,1000,1000000
a,4,allreduce,ring,10,1600
a,4,allreduce,ring_forced,,1600
a,4,allreduce,other,,1600
a,4,all-reduce,slow,20,1700
b,2x4,ALLREDUCE,ring,30,
"""


def folder(at: Path, sets: str = SET, **tables: str) -> Path:
    """Write a folder of measurements."""
    at.joinpath("sets.toml").write_text(sets)
    for name, text in ({"times": WIDE} | tables).items():
        at.joinpath(f"{name}.csv").write_text(text)
    return at


def test_times_stand_beside_predictions_and_bounds(tmp_path: Path) -> None:
    rows = judge(folder(tmp_path)).rows
    assert rows["line"].to_list() == [3, 3, 4, 5, 6, 6, 7]
    assert rows["ranks"].to_list() == [4, 4, 4, 4, 4, 4, 8]
    assert rows["netloom"].to_list() == ["ring", "ring", "", "", "linear", "ring", "ring"]
    assert rows["calibrates"].to_list() == [False, True, *[False] * 5]
    ring = 2 * 3 / 4 * 1e-3  # seconds of 1 MB at 1 GB/s, without latency
    assert rows["bound"][1] == pytest.approx(ring)
    assert ring < rows["predicted"][1] < ring * 1.03
    assert rows["predicted"].is_null().to_list() == [False, False, True, True, False, False, False]
    assert rows["measured"][0] == pytest.approx(1e-5)


def test_rows_that_fixed_a_constant_never_count(tmp_path: Path) -> None:
    rows = judge(folder(tmp_path)).rows
    assert errors_by_size(rows)["all"]["rows"] == 4
    assert judge(folder(tmp_path, OPEN)).classes["made up"]["all"]["rows"] == 5


def test_a_bound_above_its_time_is_named(tmp_path: Path) -> None:
    fast = WIDE.replace("other,,1600", "other,,1499")
    found = judge(folder(tmp_path, times=fast))
    (beaten,) = found.violations
    assert "line 5" in beaten
    assert found.verdict.mark == "act"


def test_where_switches_add_an_all_reduce_needs_less(tmp_path: Path) -> None:
    rows = judge(folder(tmp_path, SET + "adding = true\n")).rows
    assert rows["bound"][1] == pytest.approx(1e-3)  # the size goes each way once


@pytest.mark.parametrize(
    ("sets", "table"),
    [
        (SET.replace('"made up"', '"with SHARP"'), WIDE),
        (SET, WIDE.replace("a,4,allreduce", "SHARP-4,4,allreduce")),
        (SET.replace("ring*", "*"), WIDE.replace("ring,", "CollNet,")),
    ],
)
def test_rows_that_name_switches_that_add_need_less(tmp_path: Path, sets: str, table: str) -> None:
    rows = judge(folder(tmp_path, sets, times=table)).rows
    assert rows["adding"][1]
    assert rows["bound"][1] == pytest.approx(1e-3)
    said = judge(folder(tmp_path, sets + "adding = false\n", times=table)).rows
    assert said["bound"][1] == pytest.approx(1.5e-3)


def test_racks_and_computers_with_adding_switches_are_above_their_bounds(tmp_path: Path) -> None:
    sets = """
[racks]
where = { machine = "rack*" }
preset = "gb200-nvl72"
algorithms = ["in-switch", "rings"]
[sharp]
file = "racks.csv"
where = { machine = "*sharp" }
preset = "dgx-h100"
hosts = 8
"""
    table = "machine,program,gpus,bytes,time_us,algbw\n"
    table += "rack-2,allreduce,144,8589934592,,420\nrack-20,allreduce,1440,8589934592,,400\n"
    table += "h100-sharp,allreduce,64,8589934592,,390\n"
    found = judge(folder(tmp_path, sets, racks=table))
    assert not found.violations
    assert found.rows["set"].to_list() == ["racks", "racks", "sharp"]
    # GPUs of racks have 900 GB/s, computers have 8 cards of 50 GB/s
    least = [8589934592 / each for each in (950e9, 950e9, 400e9)]
    assert found.rows["bound"].to_list() == pytest.approx(least, rel=0.06)


@pytest.mark.parametrize("hosts", ["[1, 0]", "{ a = [0, 1] }", '["first", "second"]', "2"])
def test_hosts_may_be_a_number_or_a_list_by_run(tmp_path: Path, hosts: str) -> None:
    sets = f'[boxes]\nfile = "a.csv"\nnetwork = "leaf-spine:2x8x8@dgx-h100"\nhosts = {hosts}\n'
    table = "run,collective,ranks,bytes,time_us\na,allreduce,16,1000000,900\n"
    rows = judge(folder(tmp_path, sets, a=table)).rows
    assert rows.select("ranks", "nodes", "ranks_per_node").rows()[0][0] == 16
    with pytest.raises(InputError, match=r"sets.toml:4: hosts: found no run 'a'"):
        judge(folder(tmp_path, sets.replace(hosts, "{ b = [0, 1] }"), a=table))


def test_choices_are_held_against_the_best_measured_one(tmp_path: Path) -> None:
    two = SET.replace('["linear", "ring"]', '"linear"')
    found = choices(judge(folder(tmp_path, two)).rows)
    assert found.select("bytes", "chosen", "best").rows() == [
        (1000.0, "linear", "ring"),
        (1000000.0, "ring", "ring"),
    ]
    assert found["longer"].to_list() == [2.0, 1.0]


TREES = WIDE.replace("ring,", "nccl_ring,").replace("slow,", "nccl_tree,")


@pytest.mark.parametrize(
    "sets",
    [
        """
[times]
preset = { "4" = "leaf-spine:2x2x2", "2x4" = "torus:2x4" }
options = { bandwidth = "1GB/s", latency = "1us" }
algorithms = ["nccl_ring", "nccl_tree"]
calibrates = [3]
""",
        """
[sets.times]
csv = "times.csv"
topology = "leaf-spine:{ranks}x2x1"
hosts = 4
options = { bandwidth = "1GB/s", latency = "1us" }
algorithms = { nccl_ring = "ring", nccl_tree = "tree" }
calibration = ["nccl_ring 1MB", "nccl_ring, 1000"]
where = { run = "*" }
""",
        """
[[sets]]
file = "times.csv"
network = "leaf-spine:{ranks}x2x1"
hosts = ["n1", "n2", "n3", "n4"]
options = { bandwidth = "1GB/s", latency = "1us" }
algorithms = ["nccl_ring", "nccl_tree"]
calibrates = [{ algorithm = "nccl_ring", size = 1e6 }, { algorithm = "nccl_ring", size = 1000 }]
""",
    ],
)
def test_sets_may_be_spelled_in_several_ways(tmp_path: Path, sets: str) -> None:
    table = TREES.replace("b,2x4,ALLREDUCE,nccl_ring,30,\n", "")
    rows = judge(folder(tmp_path, sets, times=table)).rows
    assert rows["set"].unique().to_list() == ["times"]
    names = rows["netloom"].to_list()
    assert names == ["ring", "ring", "", "", "double-binary-tree", "double-binary-tree"]
    assert rows["calibrates"].to_list() == [True, True, *[False] * 4]


def test_an_algorithm_that_does_not_run_there_is_left_out(tmp_path: Path) -> None:
    found = judge(folder(tmp_path, SET.replace('["linear", "ring"]', '"torus-rings"')))
    slow = found.rows.filter(algorithm="slow")
    assert slow["netloom"].to_list() == ["torus-rings"] * 2
    assert slow["predicted"].is_null().all()
    assert slow["bound"].is_not_null().all()
    assert found.verdict.lines["left out"].startswith("2 rows of torus-rings not predicted (")


LONG = """bytes,time_us,algbw_GBs,busbw_GBs,gpus,program
1000000,1600,,,4,allreduce (kernel 2)
1000000,,0.625,,4,allreduce
1000000,,,0.9375,4,allreduce
"""


def test_a_long_table_has_times_or_bandwidths(tmp_path: Path) -> None:
    sets = '[[set]]\nname = "long"\nfile = "long.csv"\nnetwork = "leaf-spine:2x2x2"\n'
    rows = judge(folder(tmp_path, sets, long=LONG)).rows
    assert rows["measured"].to_list() == pytest.approx([1.6e-3] * 3)
    assert rows["algorithm"].to_list() == ["kernel 2", "", ""]


def test_the_name_of_a_table_may_say_its_collective(tmp_path: Path) -> None:
    sets = '[[set]]\nname = "a"\nfile = "rack-allreduce.csv"\nnetwork = "leaf-spine:2x2x2"\n'
    rows = judge(
        folder(tmp_path, sets, **{"rack-allreduce": "gpus,bytes,time_us\n4,1000,9\n"})
    ).rows
    assert rows["collective"].to_list() == ["all-reduce"]


def test_ranks_of_a_computer_without_an_inside_share_its_host(tmp_path: Path) -> None:
    sets = '[[set]]\nname = "a"\nfile = "times.csv"\nnetwork = "leaf-spine:2x2x2"\n'
    sets += 'ranks_per_node = 4\nalgorithms = "ring"\nwhere = { run = "a" }\n'
    rows = judge(folder(tmp_path, sets)).rows
    assert rows["ranks"].unique().to_list() == [16]
    assert rows["predicted"].is_not_null().all()


def test_hosts_of_runs_are_placed_by_their_switches(tmp_path: Path) -> None:
    sets = SET + 'hosts = "hosts.csv"\nplaces = "places.csv"\n'
    hosts = "run,host_list\na,21 10-12\nb,10\n"
    places = "switch,nodes\n1,10-11\n2,12-12 20\n3,21\n"
    read = read_folder(folder(tmp_path, sets, hosts=hosts, places=places))
    assert read.hosts(0, "a") == "4,0,1,2"


@pytest.mark.parametrize(
    ("sets", "times", "said"),
    [
        ("[[set]]\nname = 3", WIDE, r"sets.toml:2: name: found 3; expected a valid string"),
        ("[[set]]\nname = 'a'", WIDE, r"sets.toml:1: file: found nothing; expected Field required"),
        (SET + "netwerk = 1", WIDE, r"sets.toml:10: netwerk: found no such key; .* network"),
        (SET + SET, WIDE, r"sets.toml:12: name: found 'made up' twice"),
        (SET.replace("times.csv", "time.csv"), WIDE, r"sets.toml:4: file: found 'time.csv'"),
        (SET + "where = { gpu = 'no' }", WIDE, r"sets.toml:10: where: found no column 'gpu'"),
        (SET + "where = { run = 'c' }", WIDE, r"sets.toml:10: where: found no row of times.csv"),
        (SET + "columns = { bytes = 'x' }", WIDE, r"sets.toml:10: columns: found no column 'x'"),
        (SET.replace('"2x4"', '"9"'), WIDE, r"sets.toml:5: network: found none for 2x4 nodes"),
        (SET.replace('"ring"', '"rong"'), WIDE, r"sets.toml:2: set: found algorithm: 'rong'"),
        (SET.replace("bytes =", "sizes ="), WIDE, r"sets.toml:9: calibrates: found "),
        (SET.replace("1us", "1 parsec"), WIDE, r"sets.toml:2: set: found latency: '1 parsec'"),
        (SET.replace("latency", "latancy"), WIDE, r"sets.toml:2: set: found latancy: "),
        (SET.replace("2x2x2", "2x2x1"), WIDE, r"sets.toml:2: set: found .*4 ranks"),
        (SET + "hosts = 1.5", WIDE, r"sets.toml:10: hosts: found 1.5"),
        (OPEN + "calibrates = [99]", WIDE, r":9: calibrates: found line 99, .* such as 3"),
        (OPEN + "calibrates = ['ring']", WIDE, r":9: calibrates: found 'ring'"),
        ("title = 'x'\n" + SET, WIDE, r"sets.toml: found title; expected tables \[\[set\]\]"),
        ("[[set]\n", WIDE, r"sets.toml: found no TOML"),
        ("[set]\n", WIDE, r"sets.toml: found set; expected tables \[\[set\]\]"),
        (SET, WIDE.replace("ring,10,", "ring,10"), r"times.csv:3: found 5 cells; expected 6"),
        (SET, WIDE.replace("ring,10,", "ring,1O,"), r"times.csv:3: found '1O'; .* above 0"),
        (SET, WIDE.replace("4,all-", "four,all-"), r"times.csv:6: found 'four'; .* above 0"),
        (SET, WIDE.replace("all-reduce", "alreduce"), r"times.csv:6: found collective 'alreduce'"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    tmp_path: Path, sets: str, times: str, said: str
) -> None:
    with pytest.raises(InputError, match=said) as error:
        judge(folder(tmp_path, sets, times=times))
    assert "\n" not in str(error.value)


LINKS = """communicator,members,step,from_xyz,to_xyz,small_packets,large_packets
line,4,1,000,100,1,36
line,4,1,100,200,1,36
line,4,1,200,300,0,2
line,4,1,300,000,0,2
line,4,2,000,300,1,36
line,4,2,300,000,0,2
line,4,2,200,100,1,36
line,4,2,100,200,0,2
"""


def test_counted_links_are_those_of_a_binomial_tree(tmp_path: Path) -> None:
    sets = '[[set]]\nname = "links"\nfile = "links.csv"\nuse = "loads"\nnetwork = "torus:4x4x4"\n'
    rows = judge(folder(tmp_path, sets, links=LINKS)).rows
    small = rows.filter(pl.col("algorithm").str.contains("link"))
    assert (len(small), rows["ranks"].unique().to_list()) == (4, [4])
    assert rows["error"].max() == 0
    # one packet goes another way
    other = LINKS.replace("1,000,100,1,36", "1,000,100,0,36")
    rows = judge(folder(tmp_path, sets, links=other)).rows
    assert (rows["error"] > 0).any()


def test_a_link_that_is_none_is_refused(tmp_path: Path) -> None:
    sets = '[[set]]\nname = "links"\nfile = "links.csv"\nuse = "loads"\nnetwork = "torus:4x4x4"\n'
    with pytest.raises(InputError, match=r"links.csv:2: found no link '000→110'"):
        judge(folder(tmp_path, sets, links=LINKS.replace("100,1", "110,1")))


def test_shown_machines_are_as_right_as_they_should_be() -> None:
    found = judge()
    assert not found.violations
    marks = {tuple(line[:2]): line[-1][:1] for line in found.summary()}
    assert {each: marks[each] for each in GOALS} == dict.fromkeys(GOALS, "✓")
    counts = found.rows.filter(pl.col("set") == "Blue Gene/P, broadcasts")
    assert (len(counts), counts["error"].max()) == (186, 0)
    assert (choices(found.rows)["longer"] <= NEAR).mean() >= 0.9


def test_the_page_names_sets_and_rows_that_fixed_constants(tmp_path: Path) -> None:
    said = page(judge(folder(tmp_path)))
    for words in ("## made up", "a rate", "the library took another"):
        assert words in said
