"""Whether trees are what they should be, looked at one by one; shares no code with their making."""

from fractions import Fraction


def faults(forest):
    """Return what is wrong with a forest, in words; none if nothing is."""
    net, found = forest.network, []
    used = dict.fromkeys(range(net.num_links), 0)
    trees = [0] * net.num_ranks
    for batch, root in enumerate(forest.root.tolist()):
        many = int(forest.many[batch])
        trees[root] += many
        parent, route = forest.parent[batch].tolist(), forest.route[batch].tolist()
        for rank in range(net.num_ranks):
            if rank == root:
                continue
            seen, above = {rank}, parent[rank]
            while above not in seen and above >= 0 and above != root:
                seen.add(above)
                above = parent[above]
            if above != root:
                found.append(f"rank {rank} does not hang on root {root} in batch {batch}")
            here = parent[rank]
            for link in forest.routes.of(route[rank]).tolist():
                if net.source[link] != here or (here != parent[rank] and here < net.num_ranks):
                    found.append(f"the way to rank {rank} in batch {batch} is none")
                here = int(net.target[link])
                used[link] += many
            if here != rank:
                found.append(f"the way to rank {rank} in batch {batch} ends at {here}")
    if trees != forest.trees.tolist():
        found.append(f"{trees} trees")
    each = Fraction(forest.rate / (float(net.unit) * net.bytes_per_second)).limit_denominator(10**6)
    found += [
        f"link {link} carries {many} trees of {each}"
        for link, many in used.items()
        if many * each > int(net.capacity[link])
    ]
    return found
