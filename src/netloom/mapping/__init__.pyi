from .allocation import allocated_hosts as allocated_hosts
from .layouts import (
    Layout as Layout,
    find_layout as find_layout,
    fitting_layouts as fitting_layouts,
    gray as gray,
    layout_table as layout_table,
)
from .placements import (
    FORMATS as FORMATS,
    check_mapping as check_mapping,
    check_rank_file as check_rank_file,
    how_to_apply as how_to_apply,
    random_mapping as random_mapping,
    rank_file as rank_file,
    read_hosts as read_hosts,
    read_mapping as read_mapping,
    write_mapping as write_mapping,
    write_rank_file as write_rank_file,
)
from .search.generations import FoundMapping as FoundMapping, search_mapping as search_mapping
from .search.objectives import OBJECTIVES as OBJECTIVES
