"""The questions that one session strings together: each answer goes on to the next."""

import netloom as nl


def test_a_program_from_its_file_to_a_report(tmp_path):
    app = nl.read("examples/lammps-64.mtx")
    torus = nl.topology("torus:4x4x4")
    before = nl.analyze(app, torus, mapping="random", seed=1, random_mappings=1)
    better = nl.find_mapping(app, torus, objective="max-channel-load", rounds=1)
    short = {"cycles": 300, "most_cycles": 1000}
    check = nl.simulate(torus, app=app, mapping=better.mapping, offered=0.3, **short)
    same = nl.simulate(torus, app=app, mapping=better.mapping, load=0.3, **short)
    plan = nl.compile_phases(app, torus, channels=12)
    page = tmp_path / "report.html"
    nl.report([before, better, check, plan], str(page))
    for figure in ("accepted", "packet_latency_mean"):
        assert check.table()[figure].item() == same.table()[figure].item()
    assert better.value <= before.to_dict()["weighted_channel_load"]["max"]
    assert "lammps-64" in page.read_text()
