"""Every command, on ten inputs as people type them: the verdict is there, short, and as in JSON."""

import json
import re
import shlex
from math import floor

import pytest

from netloom.cli.app import app
from netloom.cli.edge import run_guarded
from netloom.questions.register import all_words, kind_of
from tests.questions.ten_questions import TEN
from tests.questions.test_verdicts import (
    test_every_answer_has_a_short_verdict_with_a_number as check_form,
)

pytestmark = pytest.mark.filterwarnings("ignore:.*:UserWarning")

FIGURES = {
    "analyze": "offered saturation.worst_node saturation.upper_bound verdict.senders",
    "analyze.permutations": "effective_bisection.mean effective_bisection.least shifts.worst "
    "shifts.max",
    "simulate.load": "offered points.*.offered packet_latency.mean points.*.packet_latency.mean "
    "packet_latency.p99 zero_load_latency points.*.zero_load_latency utilisation.max "
    "backlog.growth throughput_bound.load packets cycles",
    "simulate.saturation": "saturation_offered points.*.saturation_offered "
    "runs.*.cycles runs.*.packet_latency.mean",
    "simulate.loop": "points.*.applied",
    "simulate.transactions": "processor_use utilisation.max inter_transaction_cycles",
    "simulate.flows": "finish_seconds bound_seconds",
    "simulate.trace": "finish_cycles ideal_finish_cycles finish_seconds ideal_finish_seconds "
    "alone_cycles alone_seconds cycles rows rows_complete",
    "simulate.broadcast": "rate points.*.rate unicast_latency.mean points.*.unicast_latency.mean "
    "broadcast_latency.mean points.*.broadcast_latency.mean zero_load_latency "
    "points.*.zero_load_latency backlog.growth cycles points.*.cycles",
    "simulate.pattern": "points.*.communication_us_mean",
    "predict.latency": "points.*.offered points.*.latency offered latency zero_load_latency "
    "saturation_offered saturation_range.* expected_error",
    "predict.locality": "nodes points.*.nodes distance points.*.distance ideal.distance "
    "points.*.ideal.distance random.distance",
    "predict.torus-broadcast": "rate points.*.rate latency points.*.latency zero_load_latency "
    "saturation_rate",
    "predict.wiring": "nodes points.*.nodes delays.*.speedups.*.speedup "
    "points.*.delays.*.speedups.*.speedup",
    "hotspot": "rate points.*.rate steps.mean points.*.steps.mean unhindered_steps queue.max "
    "points.*.queue.max wait_buffer.max points.*.wait_buffer.max piled_up points.*.piled_up "
    "stages.*.stage requests.total",
    "hotspot.critical-queue": "rates.*.rate rates.*.tried.*.steps_mean rates.*.runs",
    "collective": "points.*.size points.*.seconds points.*.ratio points.*.bus_bandwidth "
    "winners.*.to_size",
    "map": "objective.before objective.after provenance.configuration.rounds",
    "compile": "predicted.message_passing schedule.expected_clocks verdict.factor",
    "compile.collective": "bound_bandwidth algorithm_bandwidth efficiency",
    "fabric": "all_to_all.max all_to_all.bound all_to_all.ratio",
    "route": "all_to_all.max before.all_to_all.max programs.*.before programs.*.after",
}
"""The figures that sentences may name, by the words of a command. ``*``: of any entry."""


def less(before, after):
    return [1 - after / before] if before and after is not None else []


def kept(figures):
    """Shares of their sending rate that ranks keep and lose."""
    shares = [
        share / each["applied"]
        for each in figures.get("points", [figures])
        for share in (each["actual"]["average_node"], each["actual"]["worst_node"])
    ]
    return [*shares, *(max(1 - each, 0) for each in shares)]


def longer(figures):
    return [
        each["communication_us_mean"] / each["message_us"] - 1 for each in figures["points"]
    ] + [each["communication_us_max"] / each["message_us"] - 1 for each in figures["points"]]


def gains(figures):
    """How much faster a torus is with the best mapping than with others; some as a factor."""
    points = figures.get("points", [figures])
    factors = [each["gain"] for each in points] + [each["gain_of_mapping"] for each in points]
    factors += [each["gain"] / each["gain_of_mapping"] for each in points]
    return [*factors, *(each - 1 for each in factors), 100 * (factors[1] - 1)]


def cut(share):
    """A share in percent, with the digits after its second decimal cut off."""
    return floor(1e4 * share) / 1e4


def objective(figures):
    first, last, bound = (figures["objective"][each] for each in ("before", "after", "bound"))
    found = [*less(first, last), abs(last / first - 1) if first else 0]
    found += [first / last - 1] if last else []
    return found + (less(first, bound) if bound else [])


DERIVED = {
    "analyze": lambda figures: [
        figures["saturation"]["worst_node"] / figures["offered"] if figures["offered"] else 0,
        len(figures["verdict"].get("affected_nodes") or []),
    ],
    "simulate.saturation": lambda figures: [
        value
        for each in figures.get("points", [figures])
        for value in (
            each["share_of_bound"],
            each["saturation_offered_half_width"] or 0,
            figures["throughput_bounds"][each["switching"]]["load"],
        )
    ],
    "simulate.loop": kept,
    "simulate.transactions": lambda figures: [
        1 - figures["processor_use"], figures["message_rate"] * figures["message_flits"],
    ],
    "simulate.flows": lambda figures: [figures["finish_over_bound"] - 1],
    "simulate.trace": lambda figures: [
        share
        for unit in ("cycles", "seconds")
        for alone in ("ideal_finish", "alone")
        for share in less(figures.get(f"finish_{unit}"), figures.get(f"{alone}_{unit}"))
    ],
    "simulate.broadcast": lambda figures: [
        each["unicast_messages"] + each["broadcast_messages"]
        for each in figures.get("points", [figures])
    ],
    "simulate.pattern": longer,
    "predict.locality": gains,
    "predict.torus-broadcast": lambda _: [0.007, 0.06],  # documented errors of the model
    "hotspot": lambda figures: [len(figures.get("points", [])), 0],
    "hotspot.critical-queue": lambda figures: [
        *(each["critical_queue"] + 1 for each in figures["rates"] if each["stable"]),
        len(figures["rates"]),
        *(each["runs"] - each["stable"] for each in figures["rates"]),
    ],
    "map": objective,
    "compile.collective": lambda figures: [
        cut(figures["efficiency"]), 1e6 * floor(figures["algorithm_bandwidth"] / 1e6),
    ],
    "fabric": lambda figures: [len(figures["circle"] or []), 0],
    "route": lambda figures: less(
        figures["before"]["all_to_all"]["max"], figures["all_to_all"]["max"]
    ),
}  # fmt: skip
"""Figures that follow from others."""

PREFIX = {"n": 1e-9, "µ": 1e-6, "m": 1e-3, "": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}

NAMES = re.compile(r"\S*→\S*|(?:out of|into) \([\d,]+\)|p99|\b[a-z]\w*:\S+")
"""Names of channels and the like, whose numbers are no figures."""

NUMBER = re.compile(
    r"(?<![\w.])(\d[\d,]*(?:\.\d+)?)(?:[ \u00a0]?(?:(%)|([nµmkMGT]?)(?:s|B(?:/s)?)\b))?"
)


def numbers(sentence):
    """The numbers of a sentence in basic units, each with what its digits leave open."""
    for said, percent, prefix in NUMBER.findall(NAMES.sub("", sentence)):
        digits = said.replace(",", "")
        scale = 0.01 if percent else PREFIX[prefix or ""]
        zeros = len(digits) - len(digits.rstrip("0")) if "." not in digits else 0
        last = 10.0 ** (zeros if zeros < len(digits) else 0)
        open_ = last / 2 if "." not in digits else 0.5 * 10.0 ** -len(digits.partition(".")[2])
        yield float(digits) * scale, (open_ + 1e-9) * scale


def at(figures, path):
    """The numbers at a path."""
    name, _, rest = path.partition(".")
    if isinstance(figures, list) and name == "*":
        return [found for each in figures for found in (at(each, rest) if rest else [each])]
    if not isinstance(figures, dict) or figures.get(name) is None:
        return []
    return at(figures[name], rest) if rest else [figures[name]]


def unfounded(words, figures, sentence):
    """The numbers of a sentence that are none of the figures which it may name."""
    known = [found for path in FIGURES[words].split() for found in at(figures, path)]
    known += DERIVED.get(words, lambda _: [])(figures)
    known = [each for each in known if isinstance(each, int | float)]
    known += [1e-6 * each for path in FIGURES[words].split() if "_us" in path
              for each in at(figures, path)]  # fmt: skip
    named = figures.get("busiest_together") or "no channels"  # a name has numbers of its own
    return [
        value
        for value, open_ in numbers(sentence.replace(named, "channels"))
        if not any(abs(value - each) <= open_ for each in known)
    ]


def lines_of(words):
    return [line.strip() for line in TEN[words].strip().splitlines()]


def test_every_command_has_ten_questions():
    assert TEN.keys() == FIGURES.keys() == all_words().keys()
    assert {words: len(set(lines_of(words))) for words in TEN} == dict.fromkeys(TEN, 10)


@pytest.mark.parametrize(
    ("words", "line"), [(words, line) for words in TEN for line in lines_of(words)]
)
def test_the_verdict_is_there_and_its_numbers_are_those_of_the_json(words, line, capsys):
    asked = [*words.split("."), *shlex.split(line), "--json"]
    assert run_guarded(lambda: app(asked, standalone_mode=False)) == 0
    figures = json.loads(capsys.readouterr().out)
    check_form(figures)
    found = kind_of(words).read(figures).verdict
    assert found.to_dict().items() <= figures["verdict"].items()
    assert unfounded(words, figures, found.sentence) == [], found.sentence


def test_a_number_that_is_no_figure_is_found():
    figures = {"all_to_all": {"max": 24, "bound": 14, "ratio": 24 / 14}, "circle": None}
    said = "The busiest cable of h0→leaf0 carries 24 paths, 1.71× what it must (14)."
    assert unfounded("fabric", figures, said) == []
    assert unfounded("fabric", figures, said.replace("24", "25")) == [25]
    assert unfounded("fabric", figures, said.replace("1.71", "1.72")) == [1.72]
    took = {"finish_seconds": 1.34e-3, "bound_seconds": 6e-4, "finish_over_bound": 2.234}
    assert unfounded("simulate.flows", took, "Takes 1.34 ms, 123 % more than needs (600 µs).") == []
    assert unfounded("simulate.flows", took, "Takes 1.34 µs, 12 % more.") == [1.34e-6, 0.12]
