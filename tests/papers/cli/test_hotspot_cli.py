"""The command ``netloom hotspot``, and the figures of ``netloom validate``."""

SMALL = "--pes 64 --hot-spots 4 --steps 300"


def test_what_was_interrupted_is_said(netloom, monkeypatch):
    monkeypatch.setattr("netloom_papers.questions.hotspot.run_all", cut_short)
    code, out, _ = netloom(f"hotspot {SMALL}")
    assert code == 130
    assert "interrupted: what was finished by then" in out


def cut_short(jobs, *, tell=None):
    """Run one job, and stop it at the first look after its first steps."""
    looks = iter([False])
    return [jobs[0](lambda: next(looks, True))]
