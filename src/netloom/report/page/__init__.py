"""One page that needs nothing else: the question, the verdict in words, charts and numbers."""

from netloom.explore.file import check_page
from netloom.report.page.pages import page_of
from netloom.report.page.write import (
    check_folder,
    report,
    sources_of,
    write_page,
    write_report,
)

__all__ = [
    "check_folder",
    "check_page",
    "page_of",
    "report",
    "sources_of",
    "write_page",
    "write_report",
]
