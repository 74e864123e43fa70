"""How fast an explorer of 100,000 channels is: a frame when the camera moves, and a hover.

Prints the median and the 90th percentile of each, in milliseconds, in Chromium without a graphics
processor. Needs playwright and a browser: ``make browser``.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from netloom.pages.explorer.file import render
from netloom.pages.explorer.network import View
from netloom.questions.answers import Verdict
from netloom.topology import topology
from tests.browser import launched

NETWORKS = ("torus:32x32", "torus:158x158", "dragonfly:8x16x8")

FRAMES = """([k, many, all]) => {
  const [panel] = netloom.explorer.panels, found = [];
  for (let frame = 0; frame < many; frame++) {
    panel.camera = { k, x: k > 1 ? -k / 3 - frame / 100 : 0, y: k > 1 ? -k / 3 : 0 };
    const begun = performance.now();
    if (all) panel.draw();
    else panel.move();
    panel.base.getContext('2d').getImageData(0, 0, 1, 1);
    found.push(performance.now() - begun);
  }
  return found;
}"""
"""Milliseconds of a frame, to the last pixel: all drawn anew, or as the camera moves."""

HOVERS = """many => {
  const [panel] = netloom.explorer.panels, box = panel.top.getBoundingClientRect(), found = [];
  for (let each = 0; each < many; each++) {
    const place = { clientX: box.left + ((each * 37) % 97) / 97 * box.width,
      clientY: box.top + ((each * 61) % 89) / 89 * box.height };
    const begun = performance.now();
    netloom.explorer.hovered(panel.hit(place), place, panel);
    panel.top.getContext('2d').getImageData(0, 0, 1, 1);
    found.push(performance.now() - begun);
  }
  return found;
}"""
"""Milliseconds from a place under the pointer to its mark and its tooltip."""


def page_of(on, folder):
    """Write a page about a network that carries something, and return its path."""
    network = topology(on)
    load = np.random.default_rng(3).gamma(2.0, size=network.num_network_channels)
    view = View("loads", Verdict("fine", on, on), "", network, "bytes", load, missing="-")
    path = Path(folder, "page.html")
    path.write_text(render([view]), encoding="utf-8")
    return path, network.num_network_channels


def told(name, found):
    """Print the median and the 90th percentile of some times."""
    median, most = np.percentile(found, [50, 90])
    print(f"  {name:22} median {median:7.1f} ms   90 % {most:7.1f} ms")


def main():
    with launched() as browser, tempfile.TemporaryDirectory() as folder:
        for on in NETWORKS:
            path, channels = page_of(on, folder)
            tab = browser.new_page(viewport={"width": 1400, "height": 900})
            tab.goto(path.as_uri())
            tab.wait_for_selector("body[data-ready]", timeout=120_000)
            drawings = tab.evaluate("netloom.explorer.network.drawings.map(each => each.label)")
            print(f"{on}: {channels:,} channels, {path.stat().st_size:,} bytes")
            for place, label in enumerate(drawings):
                tab.evaluate("place => netloom.explorer.set({drawing: place})", place)
                for k, at in ((1, ""), (8, " at ×8")):
                    told(f"{label}, anew{at}", tab.evaluate(FRAMES, [k, 30, True]))
                    told(f"{label}, moving{at}", tab.evaluate(FRAMES, [k, 30, False]))
                tab.evaluate(
                    "() => { netloom.explorer.set({camera: {k: 1, x: 0, y: 0}}, 'camera') }"
                )
                first, *rest = tab.evaluate(HOVERS, 101)
                told(f"{label}, hover", rest)
                print(f"  {label + ', first hover':22} {first:14.1f} ms")
            tab.close()


if __name__ == "__main__":
    main()
