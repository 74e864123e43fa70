"""Names run nothing in any page that netloom writes, and a page's policy stops what would."""

import re
from pathlib import Path
from zlib import crc32

import pytest

import netloom as nl
from netloom.drawing.save import Inline, html_page, save_chart
from netloom.pages import chart_of
from tests.browser import Visit

ATTACKS = (
    "</script><svg/onload=hit()>",
    "<img src=x onerror=hit()>",
    "<!--<script>hit()//",
    "\u2028hit()\u2029'-hit()-'",
    "{{hit()}}{% hit() %}${hit()}",
    "</title></style><script>hit()</script>",
    "&lt;script&gt;hit()//]]>",
    "javascript:hit()",
)

INSERTED = (
    "[...document.querySelectorAll('*')].filter(each => each.onload || each.onerror"
    " || ['IMG', 'OBJECT', 'EMBED', 'BASE'].includes(each.tagName)"
    " || (each.tagName === 'SCRIPT' && each.textContent.startsWith('hit'))).length"
)


def fabric(folder):
    """Return a real fabric whose hosts and switches are named to attack."""

    def renamed(found):
        return f'"{ATTACKS[crc32(found[1].encode()) % len(ATTACKS)]} {found[1]}"'

    text = Path("examples/dgx-40.ibnetdiscover").read_text(encoding="utf-8")
    path = folder / "<img src=x onerror=hit()>.ibnetdiscover"
    path.write_text(re.sub(r'(?<=[#0] )"([^"]{4,})"', renamed, text), encoding="utf-8")
    return path


def graph(folder):
    """Return a ring of four routers that are named to attack."""
    keys = '<key id="n" for="node" attr.name="label" attr.type="string"/>'
    nodes = "".join(
        f'<node id="{place}"><data key="n"><![CDATA[{name}]]></data></node>'
        for place, name in enumerate(ATTACKS[:4])
    )
    edges = "".join(f'<edge source="{a}" target="{(a + 1) % 4}"/>' for a in range(4))
    path = folder / "<svg onload=hit()>.graphml"
    path.write_text(
        f'<graphml>{keys}<graph edgedefault="undirected">{nodes}{edges}</graph></graphml>'
    )
    return path


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """Return answers in which hosts, switches, jobs, files and programs are named to attack."""
    folder = tmp_path_factory.mktemp("names")
    program = folder / "<img src=x onerror=hit()>.csv"
    program.write_text("source,target,bytes\n0,1,900\n1,2,100\n2,3,50\n")
    jobs = [f"{ATTACKS[5]}=0-3", f"{ATTACKS[0].replace('=', '')}=2-7:{program}"]
    return {
        "fabric": nl.check_fabric(str(fabric(folder)), samples=0, jobs=jobs),
        "graph": nl.analyze(str(program), f"graph:{graph(folder)}", random_mappings=0),
        "flows": nl.simulate_flows(
            f"fabric:{fabric(folder)}",
            app=str(program),
            bandwidth="100Gb/s",
            latency=0,
            count_inside_nodes=True,
        ),
    }


@pytest.mark.parametrize("name", ["fabric", "graph", "flows"])
@pytest.mark.parametrize("kind", ["plot", "explore", "report"])
def test_names_stay_names(name, kind, answers, browser, tmp_path):
    page = tmp_path / f"{kind}.html"
    if kind == "plot":
        save_chart(chart_of(answers[name]), page)
    elif kind == "explore":
        nl.explore(answers[name], page)
    else:
        nl.report(answers[name], page, title="".join(ATTACKS))
    visit = Visit(browser, page)
    ready = {"plot": "svg text", "explore": "body[data-ready]", "report": "html[data-drawn]"}[kind]
    visit.tab.wait_for_selector(ready, state="attached")
    if kind == "report":
        for each in visit.tab.locator("details > summary").all():
            each.evaluate("summary => { summary.parentElement.open = true }")
        visit.tab.frame_locator("iframe").locator("body[data-ready]").wait_for(state="attached")
    assert "hit()" in visit.tab.content()
    assert visit.errors == []
    assert visit.requests == []
    assert [each.evaluate(INSERTED) for each in visit.tab.frames] == [0] * len(visit.tab.frames)
    visit.context.close()


def test_the_policy_stops_what_an_escape_had_missed(browser, tmp_path):
    own = Inline("p { color: #010203 }", ("document.body.dataset.own = 'ran';",))
    strange = (
        "<script>document.body.dataset.strange = 'ran'</script>"
        "<p onclick='document.body.dataset.strange = 1' style='color: red'>x</p>"
        "<style>p { color: red }</style><img src=x onerror='document.body.dataset.strange = 1'>"
    )
    path = tmp_path / "page.html"
    text = html_page("<p>{{ said }}</p>", title="<b>", inline=own, data={}, said=strange)
    assert strange not in text
    path.write_text(text.replace("<p>", f"{strange}<p>", 1), encoding="utf-8")
    visit = Visit(browser, path)
    visit.tab.locator("p").first.click()
    assert visit.tab.evaluate("[document.body.dataset.own, document.body.dataset.strange]") == [
        "ran",
        None,
    ]
    assert visit.tab.evaluate("getComputedStyle(document.querySelector('p')).color") == (
        "rgb(1, 2, 3)"
    )
    assert visit.requests == []
    assert len(visit.errors) >= 4
    visit.context.close()
