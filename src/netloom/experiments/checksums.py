"""What a store keeps was kept so: a checksum of each answer and point, beside it."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netloom.experiments.answer import KeptAnswer

TABLE = "CREATE TABLE IF NOT EXISTS checksums (item TEXT PRIMARY KEY, sha256 TEXT NOT NULL) STRICT"
"""Older stores lack it: what has no checksum is believed."""


def answer_checksum(key: str, verb: str, answer: KeptAnswer) -> str:
    """Return the checksum of a point's answer, its tables and all."""
    costs = float(answer.wall_seconds), float(answer.cpu_seconds)  # as they come back
    words = answer.figures, answer.refusal, answer.saturated, answer.version, answer.finished
    found = _of(key, verb, *words, *costs)
    for name, data in sorted(answer.tables.items()):
        found.update(_of(name).digest())
        found.update(sha256(data).digest())
    return str(found.hexdigest())


def point_checksum(*parts: str) -> str:
    """Return the checksum of words, such as those of a point or an experiment."""
    return str(_of(*parts).hexdigest())


def _of(*parts: object) -> Any:
    return sha256(json.dumps(parts).encode())
