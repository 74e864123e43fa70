from .chakra import write_chakra as write_chakra
from .llm import PURPOSES as PURPOSES, unsaid as unsaid
from .named import (
    is_rank_program as is_rank_program,
    rank_program as rank_program,
    rank_trace as rank_trace,
)
from .rank_programs import ranks_apart as ranks_apart
