"""Constants that measured rows tell: recovered where they do, left where they do not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom.machines.named_machines import machine, machine_names
from netloom.questions.collective import compare_collectives
from netloom.questions.collective_prepared import CollectiveQuestion, prepare
from netloom.questions.fitted import FIT, fitted, machine_text
from netloom.questions.measured import MeasuredPoint, prepare_measured

ON = "leaf-spine:2x8x32@dgx-a100"
NAMES = ("cards", "inside", "hops", "start")
SIZES = 4.0 ** np.arange(5, 17)


@pytest.fixture(scope="module")
def base():
    return prepare(CollectiveQuestion(collective="all-reduce", on=ON)).library, machine(ON)


def changed(library, *, cards=1.0, inside=1.0, hops=1.0):
    """Return a library whose parts are those of a machine with other constants."""

    class Other(type(library)):
        def parts(self, collective, algorithm):
            return [
                each._replace(
                    start=(each.start - self.start) * hops + self.start,
                    inside=each.inside / inside,
                    card=each.card / cards,
                    network=each.network / cards,
                )
                for each in super().parts(collective, algorithm)
            ]

    return Other(**{name: getattr(library, name) for name in library.__dataclass_fields__})


def points(library, computers, sizes=SIZES, noise=0.0):
    rng, found = np.random.default_rng(1), []
    for file, count in enumerate(computers):
        own = replace(library, hosts=library.hosts[:count], counted={})
        for row, size in enumerate(sizes):
            took = own.timed("all-reduce", "rings", size).seconds * np.exp(rng.normal(0, noise))
            found.append(
                MeasuredPoint(
                    run="",
                    file=f"{file}.txt",
                    line=row + 1,
                    ranks=8 * count,
                    algorithm="rings",
                    size=float(size),
                    measured=float(took),
                    expected=float(took),
                    bound=0.0,
                    band=0.2,
                    ratio=1.0,
                    bus_bandwidth=1.0,
                    expected_bus_bandwidth=1.0,
                )
            )
    return found


def values(found):
    return {NAMES[each.kind]: each.value for each in found.told}


def test_rates_and_hops_are_found_from_one_file(base):
    library, known = base
    rows = points(changed(library, cards=0.9, hops=1.3), [8])
    found = fitted(rows, "all-reduce", library, known)
    assert values(found) == pytest.approx({"cards": 0.9, "hops": 1.3}, rel=3e-3)
    assert found.machine.efficiency == pytest.approx(0.9 * known.efficiency, rel=3e-3)
    ring = found.machine.protocols[0]
    assert ring.between_us == pytest.approx(1.3 * known.protocols[0].between_us, rel=3e-3)
    assert found.misfit < 1e-3


def test_one_computer_and_all_tell_rates_inside_and_between(base):
    library, known = base
    rows = points(changed(library, cards=0.85, inside=0.8, hops=1.1), [1, 8], noise=0.02)
    found = fitted(rows, "all-reduce", library, known)
    wanted = {"cards": 0.85, "inside": 0.8, "hops": 1.1}
    assert values(found) == pytest.approx(wanted, rel=0.03)
    for each in found.told:
        assert 0 < each.error < 0.05
        assert abs(np.log(each.value / wanted[NAMES[each.kind]])) < 4 * each.error


def test_two_computers_predict_eight(base):
    library, known = base
    real = changed(library, cards=0.9, hops=1.3)
    found = fitted(points(real, [2], noise=0.02), "all-reduce", library, known)
    by = values(found)
    again = changed(library, cards=by["cards"], hops=by["hops"])
    took, said = (
        [each.timed("all-reduce", "rings", size).seconds for size in SIZES]
        for each in (real, again)
    )
    assert said == pytest.approx(took, rel=0.03)


def test_large_sizes_tell_no_hops(base):
    library, known = base
    found = fitted(points(changed(library, cards=0.9), [8], 4.0 ** np.arange(15, 18)),
                   "all-reduce", library, known)  # fmt: skip
    assert [*values(found)] == ["cards"]


def test_rates_are_at_most_those_of_wires(base):
    library, known = base
    found = fitted(points(changed(library, cards=1.2), [8]), "all-reduce", library, known)
    assert found.machine.efficiency == pytest.approx(1, abs=1e-4)
    assert "as its wires" in str(found.told[0])


def test_one_row_tells_nothing(base):
    library, known = base
    rows = points(library, [8], SIZES[:1])
    rows = [replace(rows[0], measured=each * rows[0].measured) for each in (0.1, 1.0, 10.0)]
    with pytest.raises(InputError, match="3 rows that tell no constant"):
        fitted(rows, "all-reduce", library, known)


@pytest.mark.parametrize("name", machine_names())
def test_a_written_machine_is_read_as_it_was(name, tmp_path):
    known = machine(name)
    path = tmp_path / "mine.toml"
    path.write_text(machine_text(known, ["from tests"]), encoding="utf-8")
    again = machine(f"machine:{path}")
    assert again.model_copy(update={"name": name}) == known


def test_a_written_machine_is_one_of_computers(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(machine_text(machine(ON)), encoding="utf-8")
    assert machine(f"rail:1x2x8x1@{path}").computer == machine(ON).computer
    assert machine(f"machine:{path}").network().num_hosts == machine(ON).network().num_hosts


def test_the_command_writes_a_file_that_loads(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    log = tmp_path / "box.csv"
    log.write_text(
        "nodes,ranks_per_node,collective,algorithm,1024,65536,1048576,67108864,1073741824\n"
        "1,8,allreduce,ring,36,38,75,585,8160\n"
    )
    answer = compare_collectives("all-reduce", "dgx-a100", measured=str(log))
    said = FIT.write(answer, tmp_path / "mine.toml")
    assert said.startswith(f"Machine: {tmp_path / 'mine.toml'}, rates inside computers ×")
    text = (tmp_path / "mine.toml").read_text()
    assert "Not told by these rows: rates of cards and cables" in text
    fitted_to = compare_collectives("all-reduce", "machine:mine.toml", measured=str(log))
    offs = [
        [abs(np.log(each.ratio)) for each in one.measured.points] for one in (answer, fitted_to)
    ]
    assert np.mean(offs[1]) < np.mean(offs[0])


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"measured": None}, "^fit: found nothing measured"),
        ({"on": "rail:1x2x4x1"}, "^fit: found no computers of a machine in rail:1x2x4x1"),
    ],
)
def test_what_cannot_be_fitted_is_refused(asked, why, tmp_path):
    log = tmp_path / "box.csv"
    log.write_text("nodes,ranks_per_node,collective,algorithm,1024\n1,8,allreduce,ring,36\n")
    given = {"collective": "all-reduce", "on": "dgx-a100", "measured": str(log)} | asked
    question = CollectiveQuestion(**given)
    with pytest.raises(InputError, match=why):
        FIT.refuse(question, prepare_measured(question))


def test_a_machine_file_is_called_toml(tmp_path):
    with pytest.raises(InputError, match=r"a file that ends in \.toml"):
        FIT.check(tmp_path / "mine.txt")
