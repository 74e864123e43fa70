"""Programs of training: Chakra and profiler records, parallel language models, as ranks do them."""

from netloom.workload.programs.training.chakra import write_chakra
from netloom.workload.programs.training.expand import ranks_apart
from netloom.workload.programs.training.llm import PURPOSES, unsaid
from netloom.workload.programs.training.named import is_rank_program, rank_program, rank_trace

__all__ = [
    "PURPOSES", "is_rank_program", "rank_program", "rank_trace", "ranks_apart", "unsaid",
    "write_chakra",
]  # fmt: skip
