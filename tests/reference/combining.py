"""A combining network, step by step, written for the reader.

Processing elements send fetch-and-φ requests through K stages of r × r switches to memory modules;
replies come back over the same lines. Requests for the same word that meet in a switch become one;
its reply brings forth theirs. In every step every switch of every stage is visited, and every
queue is counted.

The rules are those with which Rosenblum & Mayr's tables (1986) are reproduced, and their
alternatives.
"""

from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field
from functools import cache
from math import floor, inf, log1p

import numpy as np

from tests.reference.random_bits import ALL_BITS, GOLDEN, scrambled

GAPS, CHOICES, HOT, MODULES, OPERANDS, REQUEST_ORDER, REPLY_ORDER, CHANGES, TAKES = range(9)

IDENTITY = {
    "add": 0,
    "or": 0,
    "xor": 0,
    "and": -1,
    "max": -(2**63),
    "min": 2**63 - 1,
    "swap": 0,
    "load": 0,
}

PHI = {
    "add": lambda word, operand: word + operand,
    "or": lambda word, operand: word | operand,
    "xor": lambda word, operand: word ^ operand,
    "and": lambda word, operand: word & operand,
    "max": max,
    "min": min,
    "swap": lambda word, operand: operand,
    "load": lambda word, operand: word,
}


@cache
def stream_key(seed, stream):
    return scrambled((scrambled(seed & ALL_BITS) + stream * GOLDEN) & ALL_BITS)


def bits_at(seed, stream, chain, index=0):
    """Return what ``netloom.workload.counter_random.random_bits`` does, as an int, but faster."""
    key = scrambled((stream_key(seed, stream) + chain * GOLDEN) & ALL_BITS)
    return scrambled((key + (index + 1) * GOLDEN) & ALL_BITS)


def shuffled(candidates, bits):
    """Return the candidates in an order drawn from 64 random bits."""
    order = list(candidates)
    for i in range(len(order) - 1, 0, -1):
        bits, j = divmod(bits, i + 1)
        order[i], order[j] = order[j], order[i]
    return order


@dataclass(eq=False)
class Packet:
    """A request on its way to the memory, or the reply on its way back, or one that is back."""

    pe: int
    module: int
    cell: int
    hot: bool
    operand: int
    birth: int
    moved: int  # the step of its last move
    value: int  # all operands that it stands for; as a reply, what the word was before them
    done: int = -1  # the step of its reply
    partners: list = field(default_factory=list)  # absorbed and not yet released; last in first out


@dataclass(eq=False)
class Partner:
    """A request that was absorbed by another one, whose reply will bring forth its own."""

    packet: Packet
    stage: int
    prefix: int  # operands that come before its own


class CombiningTwin:
    """The network, its requests and all that is counted; the same face as ``CombiningEngine``.

    Operands are of 16 bits and steps few: an ``add`` never leaves 64 bits here.
    """

    def __init__(self, network, traffic, *, seed=1):
        self.network, self.traffic, self.seed = network, traffic, seed
        self.n, self.r = network.pes, network.switch_size
        self.stages = 0
        while self.r**self.stages < self.n:
            self.stages += 1
        self.levels = 2 * self.stages + 2
        self.capacity = inf if network.queue is None else network.queue
        self.pool_capacity = inf if network.wait_buffer is None else network.wait_buffer
        self.forward = network.order == "forward"
        self.phi = PHI[network.operation]
        self.queues = [[deque() for _ in range(self.n)] for _ in range(self.levels)]
        self.pools = [[set() for _ in range(self.n)] for _ in range(self.stages)]
        self.words = [IDENTITY[network.operation]] * (2 * self.n)
        self.free = [0] * self.n
        self.paths = {}

        self.hot_spots = [int(module) for module in traffic.hot_spots]
        self.assigned_to = [[int(m) for m in row if m >= 0] for row in traffic.assigned]
        self.per_pe = len(traffic.assigned[0])
        self.outstanding = set()
        self.fired = 0  # chances that fired so far
        self.chance = self.gap()  # the number of the next one that fires

        self.step = 0
        self.issued = self.completed = 0
        self.discarded_waiting = self.discarded_full = 0
        self.latency_counts = Counter()
        self.per_step = []
        self.population_sums = [0] * self.levels
        self.wait_sums = [0] * self.stages
        self.queue_max = [[0] * self.n for _ in range(self.levels)]
        self.pool_max = [[0] * self.n for _ in range(self.stages)]
        self.arrived, self.combined = [0] * self.stages, [0] * self.stages
        self.issued_to, self.accesses, self.completed_from = ([0] * self.n for _ in range(3))
        self.requests = []

    @property
    def in_flight(self):
        return sum(len(each) for rows in (*self.queues, *self.pools) for each in rows)

    @property
    def returned(self):
        """What the requests of each PE fetched, summed, as 64 bits with a sign."""
        sums = [0] * self.n
        for request in self.requests:
            sums[request.pe] += request.value
        return [(each + 2**63) % 2**64 - 2**63 for each in sums]

    @property
    def memory(self):
        lines = [self.line_of(module) for module in range(self.n)]
        return [[self.words[first + line] for line in lines] for first in (0, self.n)]

    @property
    def assigned(self):
        return [row + [-1] * (self.per_pe - len(row)) for row in self.assigned_to]

    # Random numbers

    def bits(self, stream, chain, index=0):
        return bits_at(self.seed, stream, chain, index)

    def uniform(self, stream, chain, index=0):
        return (self.bits(stream, chain, index) >> 11) * 2.0**-53

    def gap(self):
        """Return 1 + the number of chances that do not fire before the next one that does."""
        rate = self.traffic.rate
        if rate == 0:
            return inf
        if rate == 1:
            return 1 if self.fired else 0
        below = floor(log1p(-self.uniform(GAPS, 0, self.fired)) / log1p(-rate))
        return below + 1 if self.fired else below

    # Lines

    def line_of(self, module):
        """Return the destination line of a module."""
        if self.network.digits == "most-significant-first":
            return module
        line = 0
        for _ in range(self.stages):
            module, digit = divmod(module, self.r)
            line = line * self.r + digit
        return line

    def port(self, stage, line):
        """Return the output port at a stage: a digit of the destination line."""
        return line // self.r ** (self.stages - 1 - stage) % self.r

    def path(self, packet):
        """Return the line before every stage, and the last: a perfect shuffle, then a switch."""
        line, target = packet.pe, packet.cell % self.n
        if (line, target) not in self.paths:
            lines = [line]
            for stage in range(self.stages):
                switch = lines[-1] % (self.n // self.r)  # has lines switch + j * N / r
                lines.append(self.r * switch + self.port(stage, target))
            assert lines[-1] == target
            self.paths[line, target] = lines
        return self.paths[line, target]

    # Queues and pools

    def slots(self, level, line):
        return self.capacity - len(self.queues[level][line])

    def append(self, packet, level, line, moved):
        queue = self.queues[level][line]
        queue.append(packet)
        packet.moved = moved
        self.queue_max[level][line] = max(self.queue_max[level][line], len(queue))
        assert len(queue) <= self.capacity

    def head(self, level, line):
        """Return the head of a queue if it has not moved in this step."""
        queue = self.queues[level][line]
        return queue[0] if queue and queue[0].moved < self.step else None

    # A step

    def advance(self, until):
        while self.step < until:
            self.run_step()

    def drain(self, most_steps=20_000):
        """Run without requests until nothing is in flight, or for ``most_steps``."""
        end = self.step + most_steps
        while self.step < end and self.in_flight:
            self.run_step(generate=False)

    def run_step(self, *, generate=True):
        self.per_step.append([0, 0, 0])
        if generate:
            self.change_hot_spots()
            self.make_requests()
        stages = range(self.stages)
        if self.forward:
            for stage in stages:
                self.move_requests(stage)
            self.access_memory()
            for stage in reversed(stages):
                self.move_replies(stage)
            self.deliver()
        else:
            self.deliver()
            for stage in stages:
                self.move_replies(stage)
            self.access_memory()
            for stage in reversed(stages):
                self.move_requests(stage)
        for level, queues in enumerate(self.queues):
            self.population_sums[level] += sum(map(len, queues))
        for stage, pools in enumerate(self.pools):
            self.wait_sums[stage] += sum(map(len, pools))
        assert self.issued == self.completed + self.in_flight
        self.step += 1

    def change_hot_spots(self):
        """Perhaps one hot spot is none any longer; perhaps another module becomes one."""
        traffic, pes = self.traffic, range(self.n)
        leaves, which_leaves, comes, which_comes = (
            self.uniform(CHANGES, self.step, i) for i in range(4)
        )
        if leaves < traffic.remove and len(self.hot_spots) > 1:
            gone = self.hot_spots.pop(floor(which_leaves * len(self.hot_spots)))
            for pe in pes:
                self.assigned_to[pe] = [m for m in self.assigned_to[pe] if m != gone]
        idle = [
            module
            for module in range(self.n)
            if module not in self.hot_spots
            and self.issued_to[module] == self.completed_from[module]
        ]
        if comes < traffic.new and idle:
            new = idle[floor(which_comes * len(idle))]
            self.hot_spots.append(new)
            for pe in pes:
                takes = self.uniform(TAKES, self.step, pe) < traffic.assign
                if len(self.assigned_to[pe]) < self.per_pe and takes:
                    self.assigned_to[pe].append(new)

    def make_requests(self):
        """Every PE has a chance; those that fire are found by the gaps between them."""
        assert self.chance >= self.step * self.n, "no requests can be made after a drain"
        while self.chance < (self.step + 1) * self.n:
            self.make_request(self.chance - self.step * self.n, self.fired)
            self.fired += 1
            self.chance += self.gap()

    def make_request(self, pe, number):
        """Choose a module; discard the request if it has to wait or the PE's queue is full."""
        traffic, choices = self.traffic, self.assigned_to[pe]
        hot = traffic.hot_fraction == 1 or self.uniform(HOT, 0, number) < traffic.hot_fraction
        if not hot:  # a line is drawn, and the module is the one that it leads to
            line = self.bits(MODULES, 0, number) % self.n
            module, cell = self.line_of(line), self.n + line  # its own inverse
        elif choices:
            module = choices[floor(self.uniform(CHOICES, 0, number) * len(choices))]
            cell = self.line_of(module)
        else:
            return
        if hot and traffic.wait and (pe, module) in self.outstanding:
            self.discarded_waiting += 1
        elif not self.slots(0, pe):
            self.discarded_full += 1
        else:
            operand, before = self.bits(OPERANDS, 0, number) >> 48, self.step - 1
            packet = Packet(pe, module, cell, hot, operand, before, before, operand)
            self.append(packet, 0, pe, before)  # so that it may move in this very step
            self.issued += 1
            self.per_step[-1][0] += 1
            if hot:
                self.issued_to[module] += 1
                self.outstanding.add((pe, module))

    def move_requests(self, stage):
        for switch in range(self.n // self.r):
            at_port = defaultdict(list)
            for j in range(self.r):
                packet = self.head(stage, switch + j * self.n // self.r)
                if packet:
                    at_port[self.port(stage, packet.cell % self.n)].append(packet)
            for port, candidates in at_port.items():
                self.contend(stage, self.r * switch + port, candidates)

    def contend(self, stage, line, candidates):
        """Let those that want the same output port enter its queue or combine."""
        pairs = not self.network.unlimited or self.network.combining == "entering"
        if len(candidates) > 1:
            bits = self.bits(REQUEST_ORDER, self.step, stage * self.n + line)
            candidates = shuffled(candidates, bits)
            if pairs and not self.slots(stage + 1, line):
                return  # none of them moves
        while candidates:
            packet = candidates.pop(0)
            same = [other for other in candidates if pairs and self.may_meet(packet, other)]
            if same and self.slots(stage + 1, line) and self.pool_has_room(stage, line):
                self.enter(packet, stage, line)
                for other in same if self.network.unlimited else same[:1]:
                    if self.pool_has_room(stage, line):
                        self.absorb(packet, other, stage, line)
                        candidates.remove(other)
            else:
                self.enter_alone(packet, stage, line)

    def enter_alone(self, packet, stage, line):
        """Combine with a request that waits in the queue, or enter it, or stay."""
        slots = self.slots(stage + 1, line)
        searches = {"waiting": True, "slot": slots > 0, "entering": False, "none": False}
        if searches[self.network.combining] and self.pool_has_room(stage, line):
            for waiting in self.queues[stage + 1][line]:
                if self.may_meet(packet, waiting) and self.may_absorb(waiting, stage, line):
                    self.absorb(waiting, packet, stage, line)
                    return
        if slots:
            self.enter(packet, stage, line)

    def may_meet(self, packet, other):
        """Only hot requests for the same word combine."""
        return packet.hot and packet.cell == other.cell and self.network.combining != "none"

    def may_absorb(self, waiting, stage, line):
        """Refuse a front that is about to leave; and, unless unlimited, a second partner."""
        front = waiting is self.queues[stage + 1][line][0]
        leaves = self.forward and front and waiting.moved < self.step
        has_partner = any(partner.stage == stage for partner in waiting.partners)
        return not leaves and (self.network.unlimited or not has_partner)

    def pool_has_room(self, stage, line):
        return len(self.pools[stage][line]) < self.pool_capacity

    def leave(self, packet, stage):
        left = self.queues[stage][self.path(packet)[stage]].popleft()
        assert left is packet
        self.arrived[stage] += 1

    def enter(self, packet, stage, line):
        self.leave(packet, stage)
        assert line == self.path(packet)[stage + 1]
        self.append(packet, stage + 1, line, self.step)

    def absorb(self, packet, other, stage, line):
        """Let one request stand for both; the other's reply will know what came before it."""
        self.leave(other, stage)
        pool = self.pools[stage][line]
        pool.add(other)
        self.pool_max[stage][line] = max(self.pool_max[stage][line], len(pool))
        self.combined[stage] += 1
        packet.partners.append(Partner(other, stage, packet.value))
        packet.value = self.phi(packet.value, other.value)

    def access_memory(self):
        """Every module that is free, and has a place for the reply, serves one request."""
        service = self.network.service_steps
        for line in range(self.n):
            packet = self.head(self.stages, line)
            if packet and self.step >= self.free[line] and self.slots(self.stages + 1, line):
                self.queues[self.stages][line].popleft()
                before = self.words[packet.cell]
                self.words[packet.cell] = self.phi(before, packet.value)
                packet.value = before
                self.append(packet, self.stages + 1, line, self.step + service - 1)
                self.free[line] = self.step + service
                self.accesses[packet.module] += 1

    def move_replies(self, stage):
        """Send back, with each reply, that of the partner absorbed at this stage."""
        level = 2 * self.stages - stage
        for switch in range(self.n // self.r):
            lines = [self.r * switch + port for port in range(self.r)]
            heads = [(self.head(level, line), line) for line in lines if self.head(level, line)]
            bits = self.bits(REPLY_ORDER, self.step, stage * self.n + switch)
            for packet, line in shuffled(heads, bits):
                if self.network.unlimited:
                    self.reply_to_all(packet, stage, line)
                else:
                    self.reply_to_both(packet, stage, line)

    def reply_to_both(self, packet, stage, line):
        partner = self.partner_at(packet, stage)
        slots = self.reply_slots(packet, stage)
        if not partner:
            if slots:
                self.reply(packet, stage, line)
            return
        same_queue = self.path(packet)[stage] == self.path(partner.packet)[stage]
        if slots >= 2 if same_queue else slots and self.reply_slots(partner.packet, stage):
            self.reply(packet, stage, line)
            self.release(packet, stage, line)
        elif same_queue and self.capacity == 1 and slots:  # there will never be two
            self.release(packet, stage, line)

    def reply_to_all(self, packet, stage, line):
        while (partner := self.partner_at(packet, stage)) and self.reply_slots(
            partner.packet, stage
        ):
            self.release(packet, stage, line)
        if not self.partner_at(packet, stage) and self.reply_slots(packet, stage):
            self.reply(packet, stage, line)

    def partner_at(self, packet, stage):
        """Return the partner absorbed last, if that was at this stage."""
        last = packet.partners[-1] if packet.partners else None
        return last if last and last.stage == stage else None

    def reply_slots(self, packet, stage):
        return self.slots(2 * self.stages + 1 - stage, self.path(packet)[stage])

    def reply(self, packet, stage, line):
        left = self.queues[2 * self.stages - stage][line].popleft()
        assert left is packet
        self.send_back(packet, stage)

    def release(self, packet, stage, line):
        """Take the partner absorbed last from the pool; its value is that after its prefix."""
        partner = packet.partners.pop()
        self.pools[stage][line].remove(partner.packet)
        partner.packet.value = self.phi(packet.value, partner.prefix)
        self.send_back(partner.packet, stage)

    def send_back(self, packet, stage):
        line = self.path(packet)[stage]
        self.append(packet, 2 * self.stages + 1 - stage, line, self.step)

    def deliver(self):
        for pe in range(self.n):
            packet = self.head(self.levels - 1, pe)
            if packet:
                self.queues[self.levels - 1][pe].popleft()
                assert packet.pe == pe
                assert not packet.partners
                self.complete(packet)

    def complete(self, packet):
        steps = self.step - packet.birth
        self.completed += 1
        self.latency_counts[steps] += 1
        self.per_step[-1][1] += 1
        self.per_step[-1][2] += steps
        if packet.hot:
            self.completed_from[packet.module] += 1
            self.outstanding.discard((packet.pe, packet.module))
        packet.done = self.step
        self.requests.append(packet)


COUNTED = (
    *("step", "issued", "completed", "in_flight", "discarded_waiting", "discarded_full"),
    *("per_step", "population_sums", "wait_sums", "queue_max", "pool_max"),
    *("arrived", "combined", "issued_to", "accesses", "memory"),
    *("hot_spots", "assigned", "returned"),
)


def counted(simulated):
    """Return everything that is counted, as plain numbers."""
    found = {name: np.asarray(getattr(simulated, name)).tolist() for name in COUNTED}
    latencies = simulated.latency_counts
    pairs = latencies.items() if isinstance(latencies, dict) else enumerate(latencies.tolist())
    found["latency_counts"] = {steps: count for steps, count in pairs if count}
    return found
