"""Six networks to look at in a browser, and what Python knows of their pages."""

from functools import cache

import netloom as nl
from tests.browser import Visit
from tests.pages.explorer.decoded import Network, View, data_of

DGX = "examples/dgx-40.ibnetdiscover"


def two_tables():
    """Return the answers about a real fabric: the tables that it had, and others."""
    return [
        nl.check_fabric(DGX, routing=routing, samples=0)
        for routing in ("lfts:examples/dgx-40-minhop.lfts", "updn")
    ]


SIX = {
    "torus": lambda: nl.find_mapping("examples/lammps-64.mtx", "torus:8x8", rounds=1),
    "trace": lambda: nl.replay(
        "torus:4x4x4", trace="examples/halo.csv", engine="flow", bandwidth="2GB/s", flit_bytes=16
    ),
    "tree": lambda: nl.check_fabric("leaf-spine:4x2x4", samples=0, jobs=["a=h[0-7]", "b=h[4-9]"]),
    "fabric": two_tables,
    "dragonfly": lambda: nl.simulate("dragonfly:2x4x2", load=0.3, cycles=1000),
    "graph": lambda: nl.analyze(
        "shift:1,7", "slim-fly:5/1", routing="minimal", random_mappings=0, weight="messages"
    ),
}
"""The answers on six pages."""

MORE = {"few entries": lambda: nl.analyze("all-to-all:16", "leaf-spine:4x2x4", random_mappings=0)}
"""On another: tables of a routing that knows only the routers where its packets come by."""

ANSWERS = {name: cache(ask) for name, ask in (SIX | MORE).items()}

READY = "body[data-ready]"


class Explorer(Visit):
    """A page in a browser, and the same data in Python."""

    def __init__(self, browser, file, address="", **settings):
        super().__init__(browser, file, **({"color_scheme": "light"} | settings))
        self.context.set_offline(True)
        if address:
            self.go(address)
        self.tab.wait_for_selector(READY)
        data = data_of(file)
        self.network = Network(data["network"])
        self.views = [View(each, self.network) for each in data["views"]]

    def answer(self, route):
        """Let the page itself in, with any end of its address, and nothing else."""
        if route.request.url.partition("#")[0] == self.file.as_uri():
            route.continue_()
        else:
            self.requests.append(route.request.url)
            route.abort()

    def go(self, address):
        """Load the page anew with an end of its address."""
        self.tab.goto("about:blank")
        self.tab.goto(f"{self.file.as_uri()}#{address}")
        self.tab.wait_for_selector(READY)

    def js(self, expression, given=None):
        """Return the value of an expression, in which ``it`` is the explorer."""
        return self.tab.evaluate(
            f"(given) => {{ const it = window.netloom.explorer; return {expression}; }}", given
        )

    def loads(self, model="it.model"):
        """Return what channels carry in the page."""
        return self.js(f"Array.from({model}.load)")

    def set(self, **state):
        """Change the state of the page."""
        self.js("it.set(given)", state)

    def reset(self):
        """Return to what is seen first, at the top of the page."""
        shown = {"view": 0, "mode": "one", "beside": -1, "drawing": 0, "measure": "load"}
        chosen = {"picked": None, "out": [], "swap": None, "frame": -1}
        self.set(**shown, **chosen, camera={"k": 1, "x": 0, "y": 0})
        self.tab.evaluate("window.scrollTo(0, 0)")

    def at(self, channel, panel=0):
        """Return where a channel is on the screen, scrolled into view."""
        place = ("network", "network-beside")[panel]
        self.tab.evaluate(f"document.getElementById('{place}').scrollIntoView({{block: 'center'}})")
        return self.tab.evaluate("given => netloom.at(...given)", [channel, panel])

    def text(self, name):
        return self.tab.inner_text(f"#{name}").replace("\u00a0", " ")

    def name_of(self, channel):
        return self.js("window.netloom.words.channelName(it.network, given)", channel)

    def amount(self, value, view=0):
        """Return how the page writes an amount."""
        said = self.js(
            "window.netloom.words.amount(...given)", [float(value), self.views[view].unit]
        )
        return said.replace("\u00a0", " ")
