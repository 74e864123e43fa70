// Files of what is shown: the picture as SVG or PNG, and the selection as CSV.

import { channelName, flowRow } from "./words.js";
import { flowOf } from "./walks.js";

function save(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

const named = (explorer, ending) => `${explorer.network.name.replace(/[^\w.-]+/g, "-")}-${explorer.model.view.name.replace(/[^\w.-]+/g, "-")}.${ending}`;

export function saveSvg(explorer) {
  const text = explorer.panels[0].svg(explorer.side.sentence());
  save(named(explorer, "svg"), new Blob([text], { type: "image/svg+xml" }));
}

export function saveImage(explorer) {
  const [panel] = explorer.panels;
  const canvas = document.createElement("canvas");
  canvas.width = panel.base.width;
  canvas.height = panel.base.height;
  const context = canvas.getContext("2d");
  context.fillStyle = panel.look.colors.paper;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(panel.base, 0, 0);
  context.drawImage(panel.top, 0, 0);
  canvas.toBlob((blob) => save(named(explorer, "png"), blob));
}

const quoted = (cell) => (/[",\n]/.test(String(cell)) ? `"${String(cell).replace(/"/g, '""')}"` : String(cell));

// Selected pairs; all channels where nothing is selected or pairs are unknown.
export function csvOf(explorer) {
  const { model, chosen } = explorer;
  const rows = [];
  if (chosen) {
    rows.push(["from", "to", model.view.unit, "busiest channel on the way", "that channel carries"]);
    const seen = new Set();
    chosen.forEach((is, walk) => {
      const flow = flowOf(model.walks, walk);
      if (!is || seen.has(flow)) return;
      seen.add(flow);
      const row = flowRow(model, flow, model.view.flows.amount[flow]);
      const waits = model.waits[flow];
      rows.push([row.from, row.to, row.value, waits < 0 ? "" : channelName(explorer.network, waits), waits < 0 ? "" : model.load[waits]]);
    });
  } else {
    rows.push(["channel", model.view.unit, `rate (${explorer.network.rate_unit})`]);
    for (const channel of model.busiest(explorer.network.channels)) {
      rows.push([channelName(explorer.network, channel), model.load[channel], explorer.network.rate[channel]]);
    }
  }
  return `${rows.map((row) => row.map(quoted).join(",")).join("\n")}\n`;
}

export function saveCsv(explorer) {
  save(named(explorer, "csv"), new Blob([csvOf(explorer)], { type: "text/csv" }));
}
