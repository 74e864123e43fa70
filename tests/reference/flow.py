"""Flows that share links max-min fairly, event by event, written for the reader.

A message that is sent is a flow. Its bytes begin to move once the latency of its path is over; from
then on it has a rate, and it arrives when its last byte has moved. Rates are those that all flows
reach if they rise together until a link is full: flows on that link stop there, the others rise on.
They are found from scratch whenever a flow begins or ends. All numbers are exact fractions, so what
happens at the same time does so here, too. What is sent when is said by ``agenda``.
"""

from collections import defaultdict, deque
from dataclasses import dataclass
from fractions import Fraction

from tests.reference.agenda import ARRIVED, Agenda


@dataclass(eq=False)
class Flow:
    """A message on its way."""

    row: int
    left: Fraction  # bytes that have not moved
    latency: Fraction
    use: dict  # {link: how much of each byte crosses it}; 1 if all paths do, once
    weight: Fraction
    begin: Fraction = Fraction(0)  # when its bytes begin to move


def fair_rates(capacity, flows):
    """Return {flow: rate}, max-min fair: nobody's can rise but by lowering one that is no larger.

    Rates rise together, each as fast as its flow's weight, until a link is full.
    """
    rates, growing = {}, list(flows)
    left = {link: capacity[link] for flow in flows for link in flow.use}
    while growing:
        wanted = defaultdict(Fraction)
        for flow in growing:
            for link, part in flow.use.items():
                wanted[link] += flow.weight * part
        level = {link: left[link] / wanted[link] for link in wanted}
        limit = {flow: min(level[link] for link in flow.use) for flow in growing}
        least = min(limit.values())
        for flow in growing:
            if limit[flow] == least:
                rates[flow] = least * flow.weight
                for link, part in flow.use.items():
                    left[link] -= rates[flow] * part
        growing = [flow for flow in growing if limit[flow] > least]
    return rates


def exact(value):
    """The fraction that a float stands for: thirds of thirds add up, or links that tie do not."""
    return Fraction(value).limit_denominator(10**9)


class FlowNetwork:
    """Links, the paths of a table's rows, and their flows.

    ``ways(row)`` lists the paths of a row as (probability, links). ``queue(row)`` names what sends
    one message after the other, in the order in which they were sent; rows of different queues do
    not wait for each other.
    """

    def __init__(self, capacity, latency, ways, queue=lambda row: row, weights=None):
        self.capacity = [exact(one) for one in capacity]
        self.latency = [Fraction(one) for one in latency]
        self.ways, self.queue, self.weights = ways, queue, weights
        self.queues = defaultdict(deque)
        self.carried = [Fraction(0)] * len(self.capacity)  # bytes that crossed each link
        self.rates = {}

    def flow(self, row, size):
        use, latency = defaultdict(Fraction), Fraction(0)
        for probability, links in self.ways(row):
            for link in links:
                use[link] += exact(probability)
                latency += exact(probability) * self.latency[link]
        weight = Fraction(1 if self.weights is None else self.weights[row].item())
        return Flow(row, size, latency, dict(use), weight)

    def run(self, table, *, switch=0):
        """Run a program; return its rows, with the times in which things happened to them."""
        agenda, now = Agenda(table.num_nodes, Fraction(switch)), Fraction(0)
        agenda.append(table, now, number=Fraction)
        while agenda.events or any(self.queues.values()):
            coming = [when for when, _, _ in agenda.events[:1]]
            for flow in self.heads():
                moving = flow in self.rates
                coming.append(now + flow.left / self.rates[flow] if moving else flow.begin)
            self.move(min(coming) - now)
            now = min(coming)
            for done in [flow for flow in self.rates if flow.left == 0]:
                agenda.put(now, done.row, ARRIVED)
                queue = self.queues[self.queue(done.row)]
                queue.popleft()
                if queue:
                    self.lead(queue[0], agenda, now)
            for row in agenda.run(now):
                queue = self.queues[self.queue(row)]
                queue.append(self.flow(row, agenda.rows[row].flits))
                if len(queue) == 1:
                    self.lead(queue[0], agenda, now)
            begun = [flow for flow in self.heads() if flow.begin <= now]
            self.rates = fair_rates(self.capacity, begun)
        return agenda.rows

    def heads(self):
        return [queue[0] for queue in self.queues.values() if queue]

    def lead(self, flow, agenda, now):
        """A flow is the first of its queue: it begins as soon as its latency is over."""
        row = agenda.rows[flow.row]
        flow.begin = max(row.sent + flow.latency, now)
        row.entered = flow.begin - flow.latency

    def move(self, time):
        for flow, rate in self.rates.items():
            flow.left -= rate * time
            for link, part in flow.use.items():
                self.carried[link] += rate * time * part
