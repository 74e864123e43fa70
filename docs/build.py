"""Build the site: ``python docs/build.py out/site``.

The pages of this folder and those that netloom writes (``generated_pages``) are laid together
beside the site's settings, ``mkdocs.yml``, and handed to Zensical. Links that lead nowhere are
errors. The search then works in pages opened from disk, without a server and without the network.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

ROOT = Path(__file__).resolve().parent.parent
SHIM = "https://unpkg.com/iframe-worker/shim"
"""The script that Zensical would load from the network, for search in pages opened from disk."""

COLORS = re.compile(r"\x1b\[[0-9;]*m")
"""What Zensical puts around letters to color them."""

OWN_SHIM = "javascripts/search-from-disk.js"


def generated() -> dict[str, str]:
    """Return the pages that netloom writes, by their path."""
    spec = spec_from_file_location("generated_pages", ROOT / "docs" / "generated_pages.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    found: dict[str, str] = module.pages()
    return found


def build(site: Path) -> None:
    """Build the site into a folder; what was in it is gone."""
    with TemporaryDirectory() as folder:
        place = Path(folder)
        shutil.copytree(ROOT / "docs", place / "docs", ignore=_no_code)
        for name, text in generated().items():
            (place / "docs" / name).write_text(text)
        settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
        strings = next(each for each in settings["plugins"] if "mkdocstrings" in each)
        python = strings["mkdocstrings"]["handlers"]["python"]
        python["paths"] = [str(ROOT / "src")]
        python["options"]["extensions"] = [str(ROOT / "docs" / "faces.py")]
        (place / "mkdocs.yml").write_text(yaml.safe_dump(settings, sort_keys=False))
        command = [sys.executable, "-m", "zensical", "build", "--strict", "-f", "mkdocs.yml"]
        done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(COLORS.sub("", done.stdout + done.stderr.partition("Traceback")[0]))
        shutil.rmtree(site, ignore_errors=True)
        shutil.copytree(place / settings["site_dir"], site)
    for page in site.rglob("*.html"):
        up = "../" * (len(page.relative_to(site).parts) - 1)
        page.write_text(page.read_text().replace(SHIM, f"{up}{OWN_SHIM}"))


def _no_code(_: str, names: list[str]) -> list[str]:
    return [name for name in names if name.endswith((".py", ".toml", "__pycache__"))]


if __name__ == "__main__":
    build(Path(sys.argv[1]))
