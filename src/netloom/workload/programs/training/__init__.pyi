from .llm import PURPOSES as PURPOSES, unsaid as unsaid
from .rank_programs import ranks_apart as ranks_apart
from .recorded import (
    is_rank_program as is_rank_program,
    rank_program as rank_program,
    rank_trace as rank_trace,
)
