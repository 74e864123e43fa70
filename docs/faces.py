"""What packages export, for the reference: the names in their stubs, which are imported lazily."""

from typing import Any

import griffe


class Faces(griffe.Extension):
    """Sets the exports of packages that import lazily."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Set them in a package and in all below it."""
        for module in pkg.modules.values():
            if not module.is_alias:
                self.on_package(pkg=module)
        if pkg.exports is None and "lazy_loader" in pkg.members:
            pkg.exports = [
                name
                for name, member in pkg.members.items()
                if member.is_alias and name != "lazy_loader"
            ]
