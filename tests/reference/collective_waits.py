"""What each message of a collective waits for, chunk by chunk: the readable twin of ``waits``."""


def waited(program, *, stepwise):
    """Return for each message those that it waits for, ascending: a list of lists."""
    since = {}  # of each rank and chunk: messages since it was last brought as it is
    sent = {}  # of each rank: messages of its last step, and of those before
    found = []
    rows = list(
        zip(
            program.step.tolist(), program.source.tolist(), program.target.tolist(),
            program.sums.tolist(), strict=True,
        )
    )  # fmt: skip
    for step in range(program.num_steps):
        now = [(number, row) for number, row in enumerate(rows) if row[0] == step]
        for number, (_, source, _, _) in now:
            after = {
                each
                for chunk in program.chunks.of(number).tolist()
                for each in since.get((source, chunk), [])
            }
            found.append(sorted(after | set(sent.get(source, [])) if stepwise else after))
        for number, (_, _, target, sums) in now:
            for chunk in program.chunks.of(number).tolist():
                before = since.get((target, chunk), []) if sums else []
                since[target, chunk] = [*before, number]
        for source in {row[1] for _, row in now}:
            sent[source] = [number for number, row in now if row[1] == source]
    return found
