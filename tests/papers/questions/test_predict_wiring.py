import pytest

from netloom import predict_wiring


def test_ratios_by_hand():
    """256 nodes: floor(512 / 3) = 170 links against 16 + 1, and (√512 − √2) / 8 in length."""
    data = predict_wiring(256, message_headers=10).to_dict()
    assert (data["mesh_peak_width"], data["hypercube_peak_width"]) == (17, 170)
    assert data["channel_width_ratio"] == 10
    assert data["wire_length_ratio"] == pytest.approx(2.65165, rel=1e-5)
    constant, logarithmic, linear = data["delays"]
    assert [each["delay"] for each in data["delays"]] == ["constant", "logarithmic", "linear"]
    assert constant["channel_rate_ratio"] == 1
    assert logarithmic["channel_rate_ratio"] == pytest.approx(1.97518, rel=1e-5)  # 1 + ln 2.65…
    assert linear["channel_bandwidth_ratio"] == pytest.approx(26.5165, rel=1e-5)
    # 10 (4 · 256 / 255 + 10) / (32 / 3 + 10)
    assert constant["speedups"] == [
        {"message_headers": 10, "speedup": pytest.approx(10 * (1024 / 255 + 10) / (32 / 3 + 10))}
    ]


def test_the_table_has_a_row_for_each_size_delay_and_length():
    found = predict_wiring("64:4096:x4", message_headers="1,10")
    table = found.table()
    assert table.height == 4 * 3 * 2
    long = table.filter(nodes=4096, delay="linear", message_headers=10.0)
    assert long["speedup"].item() == found.points[3].delays[2].speedups[1].speedup


def test_no_square_mesh_no_peak_width():
    point = predict_wiring(128).to_dict()
    assert point["mesh_peak_width"] is None
    assert point["hypercube_peak_width"] == 85
