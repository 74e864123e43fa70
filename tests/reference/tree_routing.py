"""Fat trees, written for the reader: labels as tuples of digits, and the way between two hosts.

A vertex is (level, a_h … a_{l+1}, b_l … b_1), as in Öhring's definition of XGFT(h; m; w).
"""


def digits_of(number, bases):
    """Return the digits of a number, the least significant first."""
    digits = []
    for base in bases:
        digits.append(number % base)
        number //= base
    return digits


def number_of(digits, bases):
    """Return the number of these digits, the least significant first."""
    number = 0
    for digit, base in zip(reversed(digits), reversed(bases), strict=True):
        number = number * base + digit
    return number


def vertex(children, parents, level, a, b):
    """Return the number of a vertex of a whole tree; a and b as lists, a_1 and b_1 first."""
    bases = [*parents[:level], *children[level:]]
    place = number_of([*b[:level], *a[level:]], bases)
    for lower in range(level):
        size = 1
        for base in [*parents[:lower], *children[lower:]]:
            size *= base
        place += size
    return place


def route(children, parents, parallel, source, target, ups):
    """Return the (from, to, cable) of each hop.

    ``ups`` gives parent, cable up and cable down above each level.
    """
    a, goal = digits_of(source, children), digits_of(target, children)
    meet = max((i + 1 for i in range(len(a)) if a[i] != goal[i]), default=0)
    b = [parent for parent, _, _ in ups]
    up, down = [], []
    for level in range(meet):
        assert ups[level][1] < parallel[level]
        ends = [vertex(children, parents, each, a, b) for each in (level, level + 1)]
        up.append((*ends, ups[level][1]))
        ends = [vertex(children, parents, each, goal, b) for each in (level + 1, level)]
        down.insert(0, (*ends, ups[level][2]))
    return up + down


def by_key(parents, parallel, key):
    """Return the ways up of D-mod-k (key: the target) or S-mod-k (key: the source)."""
    ups, size = [], 1
    for many, cables in zip(parents, parallel, strict=True):
        port = key // size % (many * cables)
        ups.append((port % many, port // many, port // many))
        size *= many
    return ups
