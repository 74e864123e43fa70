"""The site builds without a warning, holds every page, and loads nothing from elsewhere."""

import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from runpy import run_path

import pytest
import yaml

from netloom.questions.register import all_kinds
from netloom.topology.parse import SPECS

DOCS = Path("docs")
REFERENCE = sorted(
    page for page in (DOCS / "reference").glob("*.md") if page.stem not in ("index", "files")
)
GENERATED = {
    "changelog.md",
    "gallery.md",
    *(f"reference/{name}.md" for name in ("commands", "limits", "questions")),
}
"""Pages that netloom writes; see ``docs/generated_pages.py``."""


def test_every_page_is_in_the_navigation_once():
    settings = yaml.safe_load(Path("mkdocs.yml").read_text())

    def pages(entry):
        if isinstance(entry, str):
            return [entry]
        return [page for part in (entry if isinstance(entry, list) else entry.values())
                for page in pages(part)]  # fmt: skip

    written = {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")}
    assert sorted(pages(settings["nav"])) == sorted(written | GENERATED)


def test_every_limit_says_of_what_and_why():
    limits = run_path("docs/generated_pages.py")["limits"]
    found = [each for package in ("netloom", "netloom_papers") for each in limits(package)]
    assert len(found) > 200
    assert [module + "." + names for names, _, reason, module in found if not reason] == []


def test_every_picture_is_shown_and_has_its_command():
    listed = tomllib.loads((DOCS / "pictures.toml").read_text())
    assert {file.stem for file in (DOCS / "pictures").glob("*.[sj][vp]g")} == listed.keys()
    assert all((DOCS / each["page"]).is_file() for each in listed.values())
    for page in [*DOCS.rglob("*.md"), Path("README.md")]:
        shown = re.findall(r"pictures/([^)\s]+)\.(?:svg|jpg)\)", page.read_text())
        assert set(shown) <= listed.keys(), page


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """Build the site as ``make docs`` does: links that lead nowhere are errors."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "docs/build.py", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def loads(text):
    """Return the addresses that a page's tags make a browser load."""
    found = []
    for inside in re.findall(r"<(?:script|link|img|iframe|source)\b([^>]*)>", text):
        if not re.search(r"\brel=\"?(?:canonical|prev|next)\b", inside):
            found += re.findall(r"\b(?:src|href)=[\"']?([^\"'\s>]+)", inside)
    return found


def test_nothing_is_loaded_from_the_network(site):
    elsewhere = re.compile(r"^(\w+:)?//")
    assert loads('<script src="https://a/b.js"></script><link href="//c.css">')[1] == "//c.css"
    pages = list(site.rglob("*.html"))
    addresses = {address for page in pages for address in loads(page.read_text())}
    assert any(address.endswith(".css") for address in addresses)
    assert any(address.endswith(".js") for address in addresses)
    assert [address for address in addresses if elsewhere.match(address)] == []
    for style in [*pages, *site.rglob("*.css"), *site.rglob("*.svg")]:
        named = re.findall(
            r"(?:@import\s+|url\()\s*[\"']?((?:\w+:)?//[^\"')\s]+)", style.read_text()
        )
        assert named == [], style.name
    for picture in site.rglob("*.svg"):
        assert re.findall(r"href=[\"'](?:\w+:)?//", picture.read_text()) == [], picture.name


@pytest.mark.parametrize("page", REFERENCE, ids=lambda page: page.stem)
def test_the_reference_has_every_public_name(site, page):
    text = (site / "reference" / f"{page.stem}.html").read_text()
    packages = [f"netloom.{page.stem}"]
    if page.stem == "simulation":
        packages = ["netloom.simulation.network"]
    if page.stem == "papers":
        packages = ["netloom_papers.combining", "netloom_papers.worms"]
    for package in packages:
        face = import_module(package)
        names = face.__all__ if hasattr(face, "__all__") else [each.verb for each in all_kinds()]
        described = set(re.findall(rf'id="{package}\.(?:\w+\.)?(\w+)"', text))
        assert sorted(set(names) - described) == []


def test_every_package_of_the_house_has_its_page():
    packages = {file.parent.name for file in Path("src/netloom").glob("*/__init__.py")}
    assert packages - {"base", "cli", "drawing"} | {"papers"} == {page.stem for page in REFERENCE}


def test_the_reference_has_every_family_of_networks_and_command(site):
    text = (site / "reference" / "topology.html").read_text()
    for spec in SPECS.values():
        assert all(f"<code>{form}</code>" in text for form in spec.forms)
    text = (site / "reference" / "commands.html").read_text()
    for kind in all_kinds():
        name = kind.words.replace(".", " ")
        assert f"Usage: netloom {name} " in text, name
    for name in ("report", "study run", "compile verify", "demo", "validate"):
        assert f"Usage: netloom {name} " in text, name


FOUND = """
() => {
  const shown = (root) => [...root.querySelectorAll("*")].flatMap((each) => [
    ...(each.localName === "a" ? [each.href] : []),
    ...(each.shadowRoot ? shown(each.shadowRoot) : []),
  ]);
  return shown(document).filter((each) => each.includes("?h="));
}
"""
"""The pages that the search offers, with the words to mark there."""


def test_the_search_works_from_disk(site, browser):
    tab = browser.new_page()
    failed = []
    tab.on("requestfailed", lambda request: failed.append(request.url))
    tab.goto((site / "reference" / "commands.html").as_uri())
    tab.keyboard.press("Control+k")
    tab.keyboard.type("credit loop")
    wanted = "which-cable-slows-my-job.html"  # results of less than all that is typed come before
    tab.wait_for_function(f"({FOUND})().join(' ').includes('{wanted}')")
    assert failed == []
    tab.close()


PAGES_ON_SCREENS = (
    "index", "glossary", "messages", "gallery", "reference/commands", "reference/files",
    "reference/questions",
)  # fmt: skip


@pytest.mark.parametrize("width", [390, 820, 1400])
def test_pages_fit_screens(site, browser, width):
    tab = browser.new_page(viewport={"width": width, "height": 900})
    for name in PAGES_ON_SCREENS:
        tab.goto((site / f"{name}.html").as_uri())
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
    tab.close()


def test_verdicts_and_pictures_are_read_on_a_phone(site, browser):
    tab = browser.new_page(viewport={"width": 390, "height": 900})
    tab.goto((site / "index.html").as_uri())
    said = tab.locator("article pre:has(.gp)")
    assert said.count() == 1
    assert said.locator("code").evaluate("each => each.scrollWidth <= each.clientWidth")
    assert tab.locator("article p > img").evaluate("each => each.clientWidth") >= 700
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    letters = tab.locator("article code").evaluate_all(
        "all => all.map(each => parseFloat(getComputedStyle(each).fontSize))"
    )
    assert min(letters) >= 12
    tab.close()
