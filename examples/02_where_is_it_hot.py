"""Where is it hot? The busiest channels of a random mapping, and the paths over the busiest."""

import netloom as nl

network = nl.topology("mesh:8x8")
found = nl.analyze("examples/lammps-64.mtx", network, mapping="random", random_mappings=0)

channels = found.channels().sort("weighted_channel_load")
for row in channels.tail(3).reverse().iter_rows(named=True):
    name = network.channel_name(row["channel"])
    print(f"{name}: {row['channel_load']} paths, {row['weighted_channel_load']:,.0f} bytes")

paths = found.paths()
held_up = paths.filter(paths["heaviest_channel_weight"] == paths["heaviest_channel_weight"].max())
print(
    held_up.sort("bytes").tail(5).select("source_task", "target_task", "bytes", "path_contention")
)
