"""Where each task runs: placements, layouts, search, and the rank files that launchers read."""

from netloom.mapping.allocation import allocated_nodes
from netloom.mapping.layouts.catalogue import find_layout, fitting_layouts, gray, layout_table
from netloom.mapping.layouts.parts import Layout
from netloom.mapping.placements import (
    FORMATS,
    check_mapping,
    check_rank_file,
    how_to_apply,
    identity,
    place,
    random_mapping,
    rank_file,
    read_hosts,
    read_mapping,
    write_mapping,
    write_rank_file,
)
from netloom.mapping.routes import JointRoutes, joint_routes
from netloom.mapping.search.generations import FoundMapping, search_mapping
from netloom.mapping.search.objectives import OBJECTIVES

__all__ = [
    "FORMATS",
    "OBJECTIVES",
    "FoundMapping",
    "JointRoutes",
    "Layout",
    "allocated_nodes",
    "check_mapping",
    "check_rank_file",
    "find_layout",
    "fitting_layouts",
    "gray",
    "how_to_apply",
    "identity",
    "joint_routes",
    "layout_table",
    "place",
    "random_mapping",
    "rank_file",
    "read_hosts",
    "read_mapping",
    "search_mapping",
    "write_mapping",
    "write_rank_file",
]
