"""The virtual-channel router against BookSim 2's runs: a few rows, and how they are compared."""

import json
from collections import Counter
from math import isnan

import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom_papers.ledger import Validation, compare, items, published, rows_of, validate
from netloom_papers.studies import booksim as cases
from netloom_papers.studies.booksim import IDLE, Line, case_of, read_cases

KNOWN = published("router")["items"]["runs"]
DIRECT, HOSTED = KNOWN["tables"]
HEADER = ",".join(DIRECT["columns"])
TRANSPOSE, TWO_VCS, SPECULATIVE = (DIRECT["rows"][row] for row in (5, 8, 10))


def table(tmp_path, *rows, header=HEADER):
    file = tmp_path / "reference.csv"
    file.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return str(file)


def changed(row, **values):
    return [values.get(name, value) for name, value in zip(DIRECT["columns"], row, strict=True)]


def as_measured(monkeypatch, times=1.0):
    """Let netloom find what the reference found, times a factor."""
    monkeypatch.setattr(
        cases,
        "measure",
        lambda case, stop: {item: times * value for item, value in case.measured.items()},
    )


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    rows = [TRANSPOSE, TWO_VCS, SPECULATIVE]
    return validate("router", reference=table(tmp_path_factory.mktemp("router"), *rows))


def test_rows_of_the_reference_reproduce(compared):
    assert len(compared.rows) == 15
    assert compared.failures == ()


def test_what_is_recorded_as_outside_is_outside(compared):
    """Transpose: the idle run's sample, and accepted traffic past saturation."""
    assert [(row.item, row.quantity.split(" on ")[0]) for row in compared.rows if row.reason] == [
        ("zero-load latency", "dor transpose"),
        ("highest accepted traffic", "dor transpose"),
    ]
    assert not any(row.within for row in compared.rows if row.reason)
    outside = [name for about in KNOWN["compared"].values() for name in about.get("outside", ())]
    assert outside == [compared.rows[0].quantity]


def test_theory_is_met():
    rows = [row for name in items("router") if name != "runs" for row in rows_of("router", name)]
    assert Counter(row.item for row in rows) == {
        "zero-load formula": 48, "Geo/D/1": 4, "lone packet": 16, "Geo/D/1 at a host": 4,
        "output queue": 4, "permutations": 8, "worst traffic, accepted": 3,
        "part of the capacity": 2, "of the better of minimal and valiant": 2,
    }  # fmt: skip
    assert [row.quantity for row in rows if not row.within or row.reason] == []


def test_recorded_numbers_that_drift_fail(monkeypatch):
    as_measured(monkeypatch, 1.06)
    runs = items("router")["runs"]
    found = Validation(compare("router", runs))
    assert len(found.rows) == 5 * sum(len(each["rows"]) for each in KNOWN["tables"])
    idle = sum(row.item == "zero-load latency" and bool(row.reason) for row in found.rows)
    uneven = [row for row in found.rows if row.item == "highest accepted traffic" and row.reason]
    assert (idle, len(uneven)) == (1, 10)
    assert not any(" uniform " in row.quantity for row in uneven)
    assert len(found.failures) == len(found.rows) - 11


def test_a_reason_goes_with_the_recorded_number_only(monkeypatch, tmp_path):
    as_measured(monkeypatch, 1.04)
    row = changed(TRANSPOSE, zero_load_packet_latency=30.5, peak_accepted="")
    rows = validate("router", reference=table(tmp_path, row)).rows
    assert [(row.within, row.reason) for row in rows] == [(False, "")] + [(True, "")] * 3


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"family": "slow"}, "2, family: found 'slow'; expected one of default, fast, spec"),
        ({"topology": "tree"}, "2, topology: found 'tree'; expected one of anynet, cmesh"),
        ({"routing": "xy_yx"}, "2, routing: found 'xy_yx'; expected one of dim_order, min_adapt"),
        ({"traffic": "hot"}, "2, traffic: found 'hot'"),
        ({"traffic": "transpose", "n": 3, "k": 2}, "2, traffic: found 'transpose' (8 hosts)"),
        ({"num_vcs": "four"}, "2, num_vcs: found 'four'"),
        ({"router_cycles": 5}, "2, router_cycles: found '5'; expected 3 of this family"),
        ({"saturation_offered": -1}, "2, saturation_offered: found '-1'"),
        ({"peak_accepted": "nan"}, "2, peak_accepted: found 'nan'"),
        ({"family": "fast,fast"}, "2: found 16 values; expected 15"),
    ],
)
def test_mistakes_in_a_table_name_line_and_field(tmp_path, values, message):
    file = table(tmp_path, changed(TWO_VCS, **values))
    with pytest.raises(InputError) as raised:
        validate("router", reference=file)
    assert str(raised.value).startswith(f"{file}:{message}")


def one_case(tmp_path, **values):
    return read_cases(
        table(tmp_path, changed(SPECULATIVE, **values)),
        {item: about["column"] for item, about in KNOWN["compared"].items()},
    )[0]


def test_a_short_run_of_lonely_packets_is_the_zero_load_formula(tmp_path):
    """Every packet goes one hop each way round: 3 routers of 2 cycles, 2 links, 5 flits."""
    case = one_case(tmp_path, topology="torus", routing="dim_order", traffic="neighbor")
    found = cases.short_run(case.run(0.0005, 1), cases.Window(4_000, 60_000), lambda: False)
    assert found.latency == pytest.approx(3 + 3 * 2 + 2 * 1 + 4, rel=1e-3)
    assert found.accepted == pytest.approx(0.0005, rel=0.15)


def hosted(**values):
    """Return the line of a table: a recorded fat tree with some values changed."""
    row = dict(zip(HOSTED["columns"], HOSTED["rows"][0], strict=True))
    return row | {"vc_buf_size": 8} | values


def hosted_case(folder=None, **values):
    line = {column: str(value) for column, value in hosted(**values).items()}
    columns = {item: about["column"] for item, about in KNOWN["compared"].items()}
    return case_of(Line(line, "here", folder or cases.NETWORK_FILES), columns)


@pytest.fixture(scope="module")
def hosted_rows(tmp_path_factory):
    """Compare small networks of three kinds: a tree, a butterfly, and a file's."""
    rows = [HOSTED["rows"][number] for number in (15, 27, 31)]
    file = table(tmp_path_factory.mktemp("fabric"), *rows, header=",".join(HOSTED["columns"]))
    return validate("router", reference=file)


def test_networks_whose_hosts_are_no_routers_reproduce(hosted_rows):
    assert [row.quantity.split(",")[0] for row in hosted_rows.rows[::5]] == [
        "nca uniform on qtree",
        "min uniform on anynet irregular.net",
        "dest_tag hotspot(node0 weight 9 others 1) on fly k=8 n=2",
    ]
    assert hosted_rows.failures == ()


def test_a_table_says_how_long_its_runs_were():
    found = hosted_case(sample_period=600)
    assert found.window == cases.Window(1_800, 4_200)
    assert found.asked[IDLE][1] == cases.Window(5_400, 12_600)
    assert hosted_case(sample_period="").window == cases.Window(4_000, 6_000)


def test_ways_as_long_as_those_of_the_reference():
    """A packet takes 10 cycles and 4 a hop: 2 hops more in the mean are 8 cycles."""
    hops = np.arange(1_000) % 5
    samples = [cases.ShortRun(0.0, 0.0, 10 + 4 * hops, hops)] * 4
    mean = 10 + 4 * hops.mean()
    crossed = {1 + 2.0: 0, 1 + 2.1: 0.4, 1 + 4.0: 0}  # the last is no matter of chance
    for routers, more in crossed.items():
        case = hosted_case(zero_load_routers_traversed=routers)
        assert cases.idle_latency(case, samples) == pytest.approx(mean + more)


RUNS = "family,topology,k,n,routing,traffic,num_vcs,vc_buf_size,packet_size"
RUNS += ",offered_flits_node_cycle,avg_packet_latency,routers_traversed_mean,stable,sim_type"
RUNS += ",sample_period"


def run_of(load, latency, *, stable=1, sim_type="latency", period=600, crossed=2.5, vcs=4):
    values = ("fast", "fattree", 4, 2, "nca", "uniform", vcs, 8, 5)
    return [*values, load, latency, crossed, stable, sim_type, period]


def test_a_table_of_runs_asks_for_latencies_well_below_saturation(tmp_path):
    runs_ = [
        run_of(0.3, 20.0), run_of(0.005, 16.1, period=1_800), run_of(1.0, 900.0, stable=0),
        run_of(0.62, 48.0), run_of(1.0, 800.0, sim_type="throughput"), run_of(0.5, 26.0),
        run_of(0.2, 19.0, vcs=2), run_of(0.52, 30.0),
    ]  # fmt: skip
    one, other = read_cases(table(tmp_path, *runs_, header=RUNS), {})
    assert one.measured == {
        "zero-load latency": 16.1,
        "latency at a load of 0.3": 20.0,
        "latency at a load of 0.5": 26.0,
        "latency at a load of 0.52": 30.0,
    }
    assert one.asked["latency at a load of 0.5"] == (0.5, cases.Window(1_800, 4_200))
    assert one.asked[IDLE][1] == cases.Window(5_400, 12_600)
    assert one.routers_crossed == 2.5
    assert other.measured == {}  # its only run is its highest


def test_runs_of_a_table_reproduce(tmp_path):
    """A fat tree of 16 hosts at half of its saturation, as recorded."""
    known = dict(zip(HOSTED["columns"], HOSTED["rows"][12], strict=True))
    half = known["saturation_offered"] / 2
    lines = [
        run_of(half, known["latency_at_50pct_sat"], period=2_500, vcs=2),
        run_of(2 * half, 50.0, vcs=2),
    ]
    found = validate("router", reference=table(tmp_path, *lines, header=RUNS))
    assert [row.item for row in found.rows] == [f"latency at a load of {half:g}"]
    assert found.failures == ()
    assert found.rows[0].tolerance == 0.05


def test_what_netloom_refuses_says_so(tmp_path):
    row = changed(TWO_VCS, num_vcs=3)
    found = validate("router", reference=table(tmp_path, row))
    assert found.failures == ()
    assert all(isnan(row.computed) and not row.within for row in found.rows)
    assert all("wait for each other in a circle" in row.reason for row in found.rows)
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["rows"][0]["computed"] is None


def test_what_can_deadlock_is_run_and_says_so():
    values = {"topology": "dragonflynew", "k": 2, "n": 1, "routing": "ugal", "num_vcs": 3}
    found = hosted_case(**values)
    assert found.name.endswith("5 flits, with VCs in a circle")
    assert found.routing is not None
    assert hosted_case().name.endswith("5 flits")


def test_a_hopeless_run_ends_early():
    case = hosted_case(k=2, n=2)
    window = cases.Window(300, 700)
    whole = cases.short_run(case.run(1.0, 1), window, lambda: False)
    part = cases.short_run(case.run(1.0, 1), window, lambda: False, most=30.0)
    assert 30 < part.latency <= whole.latency
