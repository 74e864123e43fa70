"""Thousands of cases: ``python -m tests.attack 3000``, or some by number: ``... --case 17 42``."""

from __future__ import annotations

import sys
from argparse import ArgumentParser

from tests.attack.run import wrong_with


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("cases", type=int, nargs="?", default=3000)
    parser.add_argument("--first", type=int, default=1000, help="the number of the first case")
    parser.add_argument("--case", type=int, nargs="*", help="these only")
    asked = parser.parse_args()
    numbers = asked.case or range(asked.first, asked.first + asked.cases)
    wrong = 0
    for number in numbers:
        if found := wrong_with(number):
            wrong += 1
            sys.stdout.write(f"{found}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{len(numbers) - wrong} passed, {wrong} failed\n")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
