"""How answers to the papers' questions are shown in Python."""

from __future__ import annotations

from netloom.questions.answers import Answer
from netloom.questions.register import by_verb


class Told(Answer):
    """An answer that is shown as what it is of, where it comes from, and its sentences."""

    def __repr__(self) -> str:
        of = by_verb(self.provenance.verb).verdict(self.to_dict()).of
        return "\n".join([f"<{of}; {self.origin}>", *self.sentences()])
