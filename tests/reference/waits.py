"""What packets hold while they ask for what under a table, written for the reader: sets."""

import networkx as nx


def choices_of(number, num_channels, sets):
    """The channels that an entry of a table offers."""
    if number < 0:
        return []
    return [number] if number < num_channels else sets[number - num_channels]


def waits_of_table(rows, sets, channel_target, sources, lane):
    """The graph of (channel, lane) after (channel, lane).

    ``sources`` are (goal, router, port by which packets come in). ``lane(goal, source, router, came
    by, channel)`` is the lane of a channel behind the one that packets ``came by``, None at first.
    """
    waits = nx.DiGraph()
    for goal, start, port in sources:
        source = start, port
        todo, seen = [(start, None, None)], set()
        while todo:
            router, held, held_lane = todo.pop()
            for asked in choices_of(int(rows[goal][router]), len(channel_target), sets):
                after = lane(goal, source, router, held, asked)
                if held is not None:
                    waits.add_edge((held, held_lane), (asked, after))
                if (asked, after) not in seen:
                    seen.add((asked, after))
                    todo.append((int(channel_target[asked]), asked, after))
    return waits
