"""What a page reads from its data, in Python: the twin of data.js and walks.js, slow and plain."""

import base64
import json
import re
import zlib
from collections import defaultdict

import numpy as np

TYPES = {"u1": np.uint8, "u2": np.uint16, "u4": np.uint32, "f4": np.float32, "f8": np.float64}


def unpacked(packed):
    """Return the array, or the list of words, that ``packed`` stands for."""
    raw = zlib.decompress(base64.b64decode(packed["data"]))
    if packed["type"] == "words":
        return raw.decode("utf-8").split("\n") if packed["many"] else []
    dtype = np.dtype(TYPES[packed["type"]])
    if not packed["type"].startswith("f"):
        raw = np.frombuffer(raw, np.uint8).reshape(dtype.itemsize, -1).T.tobytes()
    values = np.frombuffer(raw, dtype.newbyteorder("<")).astype(dtype)
    assert len(values) == packed["many"]
    return np.cumsum(values, dtype=dtype) if packed["delta"] else values


def places(packed):
    """Return float64[rows, columns], places in pixels."""
    values = unpacked(packed["values"]).astype(np.float64)
    return (packed["low"] + values / packed["fine"]).reshape(packed["columns"], -1).T


def data_of(page):
    """Return the JSON that stands in a page."""
    text = page.read_text(encoding="utf-8")
    return json.loads(
        re.search(r'<script type="application/json" id="data">(.*?)</script>', text)[1]
    )


class Network:
    """A network as the page has it."""

    def __init__(self, given):
        self.hosts, self.routers, self.channels = (
            given["hosts"],
            given["routers"],
            given["channels"],
        )
        self.direct, self.drawings = given["direct"], given["drawings"]
        self.source, self.target = (
            unpacked(given["source"]).tolist(),
            unpacked(given["target"]).tolist(),
        )
        self.router_of = [each - 1 for each in unpacked(given["router_of"]).tolist()]
        self.router_names = unpacked(given["router_names"])
        self.host_names = self.router_names if self.direct else unpacked(given["host_names"])
        self.rate = unpacked(given["rate"])
        self.ports = None
        if "out_port" in given:
            ports = (unpacked(given[name]).tolist() for name in ("out_port", "in_port"))
            self.ports = list(zip(*ports, strict=True))
        self.leaving, self.entering = defaultdict(list), defaultdict(list)
        for channel, (source, target) in enumerate(zip(self.source, self.target, strict=True)):
            self.leaving[source].append(channel)
            self.entering[target].append(channel)

    def twin(self, channel):
        """Return the way back over the same cable: by its ports, else the n-th back of the n-th."""
        ends = self.source[channel], self.target[channel]
        alike = [each for each in self.leaving[ends[0]] if self.target[each] == ends[1]]
        back = [each for each in self.leaving[ends[1]] if self.target[each] == ends[0]]
        if self.ports is not None:
            ports = self.ports[channel][::-1]
            return next((each for each in back if self.ports[each] == ports), -1)
        place = alike.index(channel)
        return back[place] if place < len(back) else -1


class View:
    """A view as the page has it: its flows, and the channels that they cross."""

    def __init__(self, given, network):
        self.network, self.unit = network, given["unit"]
        self.load = unpacked(given["load"]).astype(np.float64)
        self.name, self.missing, self.given = given["name"], given["missing"], given
        flows, ways = given["flows"], given["ways"]
        if flows is not None:
            self.host_of, self.ranks = unpacked(flows["host_of"]).tolist(), flows["ranks"]
            self.flows = list(_flows(flows))
        self.table = self.walks = None
        if ways is not None and "table" in ways:
            self.table = unpacked(ways["table"]).reshape(network.routers, network.hosts)
        elif ways is not None:
            self.walks = list(_walks(ways))

    def walked(self, table=None, host_of=None):
        """Return the flow, the share and the channels of each walk, and how many are lost."""
        if self.walks is not None:
            return self.walks, 0
        table = self.table if table is None else table
        found = [self._walk(table, flow, host_of or self.host_of) for flow in self.flows]
        walks = [(flow, 1.0, channels) for flow, (channels, _) in enumerate(found)]
        return walks, sum(not arrived for _, arrived in found)

    def _walk(self, table, flow, host_of):
        start, goal = host_of[flow[0]], host_of[flow[1]]
        router, end = self.network.router_of[start], self.network.router_of[goal]
        channels = []
        while start != goal and table[router, goal] and len(channels) <= self.network.routers:
            channel = self.network.leaving[router][table[router, goal] - 1]
            channels.append(channel)
            router = self.network.target[channel]
        return channels, start == goal or router == end

    def loads(self, walks=None):
        """Return float64[channels], what all flows put there."""
        load = np.zeros(self.network.channels)
        for flow, share, channels in self.walked()[0] if walks is None else walks:
            for channel in channels:
                load[channel] += self.flows[flow][2] * share
        return load

    def over(self, channel, walks=None):
        """Return what each flow puts on a channel."""
        found = defaultdict(float)
        for flow, share, channels in self.walked()[0] if walks is None else walks:
            for _ in range(channels.count(channel)):
                found[flow] += self.flows[flow][2] * share
        return dict(found)


def _flows(given):
    if "each" in given:
        for source in range(given["ranks"]):
            for target in range(given["ranks"]):
                if source != target:
                    yield source, target, given["each"]
        return
    yield from zip(
        *(unpacked(given[name]).tolist() for name in ("source", "target", "amount")), strict=True
    )


def _walks(given):
    hops, channels = unpacked(given["hops"]).tolist(), unpacked(given["channels"]).tolist()
    flow = unpacked(given["flow"]).tolist() if "flow" in given else range(len(hops))
    share = unpacked(given["probability"]).tolist() if "probability" in given else [1] * len(hops)
    at = 0
    for each, part, many in zip(flow, share, hops, strict=True):
        yield each, part, channels[at : at + many]
        at += many
    assert at == len(channels)


def busy(frames, channels):
    """Return float64[frames, channels], the share of each frame for which channels are busy."""
    changes = unpacked(frames["changes"]).reshape(-1, channels)
    return np.cumsum(changes, axis=0, dtype=np.uint8) / frames["most"]
