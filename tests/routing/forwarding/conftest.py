"""Fabrics of netloom's own families, as ibnetdiscover describes them."""

from tests.fabrics.conftest import fabric  # noqa: F401
