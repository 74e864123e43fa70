"""Where packets of a forwarding table end: every one is followed."""


def outcomes(table, last, lost, channel_target):
    """Return what becomes of packets from each router to each row: see the kernel."""
    found = []
    for row, entries in enumerate(table):
        found.append([])
        for start in range(len(entries)):
            visited = [start]
            while entries[visited[-1]] >= 0 and visited.count(visited[-1]) == 1:
                visited.append(channel_target[entries[visited[-1]]])
            end = visited[-1]
            if visited.count(end) == 2:
                found[-1].append(-2 - min(visited[visited.index(end) :]))
            elif end == last[row] and not lost[row]:
                found[-1].append(-1)
            else:
                found[-1].append(end)
    return found
