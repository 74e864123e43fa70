"""What tests look at of the state of a network that is simulated."""

import numpy as np


def _shaped(setup, of_slots):
    """Numbers of slots as [num_routers, ports, vcs]."""
    used = of_slots[:, : setup.num_slots]
    return used.reshape(len(used), setup.num_ports, setup.vc_stride)[:, :, : setup.num_vcs]


def credits_of(engine):
    """The credits of every output VC."""
    setup = engine.setup
    values = engine.state.outputs["credits"][: setup.source_slots].astype(np.int64)
    return _shaped(setup, values.reshape(-1, setup.num_slots))


def owned_of(engine):
    """Which output VCs a packet owns."""
    words = np.ascontiguousarray(engine.state.masks["free"]).reshape(-1, engine.setup.words)
    free = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little").astype(np.bool_)
    return ~_shaped(engine.setup, free)


def bytes_per_node(engine):
    """Bytes of state a node, without the packets on their way and the log."""
    arrays = engine.state._replace(packets=engine.state.clock, log=engine.state.clock)
    return sum(array.nbytes for array in arrays) / engine.topology.num_hosts
