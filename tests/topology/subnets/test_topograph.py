"""Models of NVIDIA's topograph."""

from __future__ import annotations

from tests.topology.subnets.fabric_files import text_of
from tests.topology.subnets.said import links, network


def test_all_forms_of_a_model_say_the_same(tmp_path):
    pairs = [("S1", "S2"), ("S1", "S3"), ("S2", "I21"), ("S2", "I22"), ("S2", "I23"), ("S3", "I34")]
    expected = sorted([(a, b, 1.0, 1) for a, b in pairs] + [(b, a, 1.0, 1) for a, b in pairs])
    for form in ("mapping", "blocks", "list"):
        net = network(tmp_path, text_of(f"{form}.topograph.yaml"))
        assert links(net) == expected
        assert "not by how many cables" in net.notes[0]
