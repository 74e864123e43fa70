"""The rules of Chrome's trace-event format, as a reader of a file sees them."""

import gzip
import json
from collections import defaultdict
from itertools import pairwise
from math import isfinite
from numbers import Real

KEYS = {
    "M": {"name", "pid", "tid", "args"},
    "X": {"name", "cat", "ts", "dur", "pid", "tid", "args"},
    "s": {"name", "cat", "id", "ts", "pid", "tid"},
    "f": {"name", "cat", "id", "ts", "pid", "tid", "bp"},
    "C": {"name", "ts", "pid", "args"},
}
SAID = {
    "process_name": str, "thread_name": str, "process_sort_index": int, "thread_sort_index": int,
}  # fmt: skip


def whole(us):
    """Return µs in nanoseconds, which they are whole numbers of."""
    found = round(us * 1000)
    assert abs(us * 1000 - found) < 1e-3 * max(1, found * 1e-9)
    return found


def read(path):
    """Return the file as an object, having checked each of its events by itself."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    found = json.loads(data)
    assert set(found) == {"displayTimeUnit", "otherData", "traceEvents"}
    assert found["displayTimeUnit"] == "ns"
    for event in found["traceEvents"]:
        assert KEYS[event["ph"]] <= set(event), event
        assert type(event["pid"]) is int
        assert event["pid"] > 0
        assert type(event.get("tid", 0)) is int
        for key in ("ts", "dur"):
            assert isinstance(event.get(key, 0), Real)
            assert isfinite(event.get(key, 0))
            assert event.get(key, 0) >= 0
        if event["ph"] == "f":
            assert event["bp"] == "e"
        if event["ph"] == "C":
            assert event["args"]
            assert all(isinstance(value, Real) for value in event["args"].values())
        if event["ph"] == "M":
            [value] = event["args"].values()
            assert isinstance(value, SAID[event["name"]])
    return found


def check(path):
    """Check a file by all rules, and return it with its names, slices, arrows and counters."""
    data = read(path)
    events = data["traceEvents"]
    names = _names(events)
    timed = [event for event in events if event["ph"] != "M"]
    assert [each["ts"] for each in timed] == sorted(each["ts"] for each in timed)
    slices = defaultdict(list)
    for event in timed:
        if event["ph"] == "X":
            begin = whole(event["ts"])
            end = begin + whole(event["dur"])
            assert end > begin
            slices[event["pid"], event["tid"]].append((begin, end, event))
    for track, row in slices.items():
        assert track in names
        check_nested(row)
    assert set(slices) == {track for track in names if track[1]}, "a track without slices"
    return data, names, slices, _arrows(timed, slices), _counters(timed, names)


def check_nested(row):
    """Check that slices, as they come, do not overlap but one is inside the other."""
    open_until = []
    for begin, end, _ in row:
        while open_until and open_until[-1] <= begin:
            open_until.pop()
        assert not open_until or end <= open_until[-1], "slices that overlap in part"
        open_until.append(end)


def _names(events):
    names, orders = {}, defaultdict(set)
    for event in events:
        if event["ph"] == "M" and event["name"].endswith("_name"):
            key = event["pid"], event["tid"]
            assert key not in names
            assert (event["tid"] == 0) == (event["name"] == "process_name")
            names[key] = event["args"]["name"]
        elif event["ph"] == "M":
            of = event["pid"] if event["tid"] else 0
            assert event["args"]["sort_index"] not in orders[of]
            orders[of].add(event["args"]["sort_index"])
    threads = [(pid, name) for (pid, tid), name in names.items() if tid]
    assert len(threads) == len(set(threads)), "two tracks of one name"
    assert {(event["pid"], 0) for event in events} <= set(names)
    return names


def _arrows(timed, slices):
    """Return the two slices that each arrow joins."""
    ends = {"s": {}, "f": {}}
    for event in timed:
        if event["ph"] in ends:
            key = event["cat"], event["id"]
            assert key not in ends[event["ph"]]
            ends[event["ph"]][key] = event
    assert set(ends["s"]) == set(ends["f"])
    by_start = {
        track: {begin: (begin, end, event) for begin, end, event in row}
        for track, row in slices.items()
    }
    found = []
    for key, begins in ends["s"].items():
        over = ends["f"][key]
        assert begins["ts"] <= over["ts"]
        found.append(tuple(_bound(event, slices, by_start) for event in (begins, over)))
    return found


def _bound(event, slices, by_start):
    track, at = (event["pid"], event["tid"]), whole(event["ts"])
    if at in by_start[track]:
        return by_start[track][at][2]
    inside = [each for each in slices[track] if each[0] <= at < each[1]]
    assert inside, "an arrow without a slice"
    return inside[-1][2]


def _counters(timed, names):
    found = defaultdict(list)
    for event in timed:
        if event["ph"] == "C":
            assert names[event["pid"], 0] == "channels"
            found[event["name"]].append((whole(event["ts"]), event["args"]["utilisation"]))
    for points in found.values():
        times = [time for time, _ in points]
        assert all(one < other for one, other in pairwise(times))
        assert min(value for _, value in points) >= 0
        assert points[-1][1] == 0
    assert len(found) <= 10
    return found


def passed(points):
    """Return the sum of a counter over time, in µs of the channel fully used."""
    return sum((after - time) * value for (time, value), (after, _) in pairwise(points)) / 1000


def of_kind(slices, kind):
    """Return the slices of a kind, in µs: begin, end and the event."""
    return [
        (begin / 1000, end / 1000, event)
        for row in slices.values()
        for begin, end, event in row
        if event["cat"] == kind
    ]
