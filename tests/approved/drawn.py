"""Three hundred further answers, drawn by number, as digests of their JSON.

``python -m tests.approved.drawn`` shows which changed, with ``--accept`` it keeps them. A case is
a pure function of its number, so that any of them can be asked again by hand.
"""

import hashlib
import json
import sys
from random import Random

from tests.approved.asked import HERE, in_a_folder, run, shortened

CASES = 300
KEPT = HERE / "digests.txt"

DIRECT = (
    "mesh:3x4", "mesh:5", "torus:4x3", "torus:5x2x2", "hypercube:3", "cube:4wx3", "ring:7",
    "mesh:2x3x2", "twisted-torus:2x4",
)  # fmt: skip
HOSTED = (
    "leaf-spine:3x2x4", "fat-tree:k=4", "fat-tree:3x2", "xgft:2x3/1x2", "dragonfly:2x4x2",
    "hyperx:3x3/1/2", "mesh:3x3/2", "torus:4/2", "mesh:3x3/1", "jellyfish:8x4x3/1",
    "slim-fly:3/1", "dragonfly+:2x2x2x2", "rail:1x2x4x2",
)  # fmt: skip
OF_ALL_HOSTS = ("ring", "all-to-all", "shift:1", "shift:2,3", "random-permutation")
SIZED = (
    "ring:4",
    "all-to-all:5",
    "binary-tree:5",
    "random-regular:4,2",
    "hypercube:2",
    "shift:1/3",
)
QUESTIONS = (
    ("analyze {app} --on {any} --random-mappings 2 --seed {seed}", 6),
    ("analyze {app} --on {any} --random-mappings 0 --mapping random --offered {load}", 4),
    ("analyze {app} --on {hosted} --routing ecmp:{seed} --random-mappings 0", 2),
    ("analyze permutations --on {any} --samples 3 --seed {seed}", 1),
    ("map {sized} --on {any} --rounds 1 --seed {seed}", 4),
    ("map {sized} --on {any} --rounds 1 --objective hop-bytes", 2),
    ("simulate load --on {any} --load {load} --cycles 600 --seed {seed} --vcs 4", 6),
    ("simulate load --on {any} --app {app} --load {load} --cycles 600 --vcs 4", 3),
    ("simulate loop --on {any} --app {app} --applied {load} --loops 3 --vcs 4", 3),
    ("simulate loop --on {any} --app {app} --applied {load} --loops 3 --engine worm", 2),
    ("simulate flows --on {any} --app {app} --flow-bytes 1MB --bandwidth 25GB/s", 4),
    ("simulate flows --on {any} --app {app} --flow-bytes 1kB --bandwidth 25GB/s --injection shared"
     " --latency 1us", 2),
    ("simulate transactions --on {any} --app {app} --batch-cycles 200 --vcs 4", 1),
    ("predict latency --on {any} --offered {load}", 2),
    ("collective all-reduce --on {any} --size 1kB,1MB", 2),
    ("collective all-to-all --on {any} --size 64kB", 1),
    ("collective all-gather --on {hosted} --size 1MB", 1),
    ("compile {sized} --on {any} --words 32", 2),
    ("compile collective all-gather --on {any} --size 1MB", 1),
    ("fabric {any} --samples 2 --seed {seed}", 2),
    ("fabric {hosted} --samples 1 --routing {engine}", 2),
    ("route {any} --samples 2", 1),
)  # fmt: skip
"""Commands with places to fill, and how often each is drawn."""

ENGINES = ("minhop", "updn", "dfsssp", "lash", "sssp")


def command(number):
    """The command of a case."""
    draw = Random(number)
    question = draw.choices([each for each, _ in QUESTIONS], [often for _, often in QUESTIONS])[0]
    places = {
        "app": (*OF_ALL_HOSTS, *SIZED), "sized": SIZED, "any": (*DIRECT, *HOSTED),
        "hosted": HOSTED, "seed": range(100), "load": (0.05, 0.2, 0.5), "engine": ENGINES,
    }  # fmt: skip
    return question.format(**{place: draw.choice(values) for place, values in places.items()})


def digest(number):
    """The exit code of a case, and a digest of its JSON or of the line that refuses it."""
    code, out, err = run(f"{command(number)} --json")
    said = json.dumps(shortened(json.loads(out)), sort_keys=True) if code == 0 else err
    return f"{code} {hashlib.sha256(said.encode()).hexdigest()[:16]}"


def drawn():
    """A line for each case: its number, exit code, digest and command."""
    with in_a_folder():
        return [f"{number:3} {digest(number)} {command(number)}" for number in range(CASES)]


if __name__ == "__main__":
    now = drawn()
    before = KEPT.read_text().splitlines() if KEPT.exists() else []
    sys.stdout.writelines(f"{line}\n" for line in now if line not in before)
    if "--accept" in sys.argv:
        KEPT.write_text("\n".join(now) + "\n")
