"""Where each task runs: placements, mapping files and the rank files that launchers read."""

from netloom.mapping.files import read_mapping, write_mapping
from netloom.mapping.layouts import gray
from netloom.mapping.placements import check_mapping, identity, place, random_mapping
from netloom.mapping.rank_files import (
    FORMATS,
    how_to_apply,
    rank_file,
    read_hosts,
    write_rank_file,
)

__all__ = [
    "FORMATS",
    "check_mapping",
    "gray",
    "how_to_apply",
    "identity",
    "place",
    "random_mapping",
    "rank_file",
    "read_hosts",
    "read_mapping",
    "write_mapping",
    "write_rank_file",
]
