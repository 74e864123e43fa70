"""``python -m tests.approved --accept NAME ...`` writes what commands answer now, by default all.

Without ``--accept`` it only shows what changed.
"""

import difflib
import sys

from tests.approved.asked import SAID, approved, asked_for, in_a_folder

table = asked_for()
names = [each for each in sys.argv[1:] if each != "--accept"] or list(table)
SAID.mkdir(exist_ok=True)
with in_a_folder():
    for name in names:
        path, now = SAID / f"{name}.txt", approved(table[name])
        before = path.read_text() if path.exists() else ""
        if before == now:
            continue
        sys.stdout.writelines(
            difflib.unified_diff(
                before.splitlines(keepends=True), now.splitlines(keepends=True), name, name, n=1
            )
        )
        if "--accept" in sys.argv:
            path.write_text(now)
for path in SAID.iterdir():
    if path.stem not in table and "--accept" in sys.argv:
        path.unlink()
