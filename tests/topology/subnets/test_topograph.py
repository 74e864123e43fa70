"""Models of NVIDIA's topograph."""

from __future__ import annotations

from tests.topology.subnets.said import links, network

MAPPING = """\
switches:
  S1:
    switches: [S2, S3]
  S2:
    nodes: [I21, "I[22-23]"]
  S3:
    nodes: [I34]
nodes:
  I21: {capacity_block: CB2, attributes: {nvlink: CB2}}
capacity_blocks:
  CB2:
    nodes: ["I[21-22]"]
"""
BLOCKS = """\
switches:
  S1:
    labels: {topology.kubernetes.io/region: us-east}
    switches: [S2, S3]
blocks:
- switch: S2
  nodes:
  - I21
  - I[22-23]
- switch: S3
  nodes: [I34]
"""
LIST = """\
switches:
- name: S1
  metadata: {region: us-west}
  switches: [S2,S3]
- name: S2
  capacity_blocks: [cb2]
- name: S3
  capacity_blocks: [cb3]
capacity_blocks:
- {name: cb2, type: GB200, nvlink: nvl1, nodes: [I21, "I[22-23]"]}
- {name: cb3, nodes: [I34]}
"""


def test_all_forms_of_a_model_say_the_same(tmp_path):
    pairs = [("S1", "S2"), ("S1", "S3"), ("S2", "I21"), ("S2", "I22"), ("S2", "I23"), ("S3", "I34")]
    expected = sorted([(a, b, 1.0, 1) for a, b in pairs] + [(b, a, 1.0, 1) for a, b in pairs])
    for text in (MAPPING, BLOCKS, LIST):
        net = network(tmp_path, text)
        assert links(net) == expected
        assert "not by how many cables" in net.notes[0]
