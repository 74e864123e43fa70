"""A mistake ends a command with exit code 2 and one line, before any work; nothing is printed."""

import pytest

from tests.approved.asked import run

FILES = {
    "allocated.txt": "0-63\nx3\n",
    "few": "a\nb\n",
    "circle": "0 1 < 1 2\n1 2 < 0 1\n",
    "small.toml": "[analyze]\non = 'mesh:2x2'\napp = 'ring:4'\n",
    "other.toml": "[analyze]\non = 'mesh:2x2'\napp = 'ring:4'\n",
    "after.csv": "id,after,source,target,flits\na,,0,1,5\nb,c,1,2,5\n",
    "round.csv": "id,after,source,target,flits\na,b,0,1,5\nb,a,1,2,5\n",
    "far.csv": "id,after,source,target,flits\na,,0,99,5\n",
    "less.csv": "id,after,source,target,flits\na,,0,1,-5\n",
}

OF_ALL = [
    ("analyze ring:4 --on mesh:8y8", "'8y8'"),
    ("analyze ring:4 --on mesh:2x2 --plot hot.gif", "hot.gif"),
    ("analyze ring:4 --on mesh:2x2 --seed abc", "'--seed'"),
    ("analyze ring:4 --on mesh:2x2 --hosts {tmp}/lost", "lost: found no such file"),
    ("analyze ring:4 --on mesh:2x2 --rankfile-format lsf", "rankfile_format: found 'lsf'"),
    ("analyze ring:4 --on mesh:2x2 --save-mapping {tmp}/folder", "folder: found a folder"),
    ("analyze ring:4 --on mesh:2x2 --rankfile {tmp}/lost/ranks", "a folder that is not there"),
    ("validate knuth", "paper: found 'knuth'"),
    ("validate --markdown page.txt", "page.txt: found suffix '.txt'"),
    ("explore {tmp}/folder", "found a folder; expected a store, .sqlite"),
]

FORMS = [
    ("analyze ring:4", "--on: found nothing; expected Network (torus:4x4x4"),
    ("analyze --on mesh:4", "APP: found nothing; expected Process graph"),
    ("analyze ring:4 mesh:4 mesh:5", "one word too many, 'mesh:5'; expected APP and ON, each once"),
    ("fabric --on mesh:4 mesh:5", "'mesh:5'"),
    ("analyze ring:4 --on mesh:4 --load 0.3", "no such option of netloom analyze; expected "),
    ("analyze ring:4 --on mesh:4 --load 0.3", "netloom simulate load"),
    ("analyze ring:4 --on mesh:4 --maping x", "netloom analyze; expected --mapping"),
    ("simulate load --on mesh:4 --offered 0.3", "and netloom predict latency, which take it"),
    ("analyze ring:4 --on tours", "on: found 'tours'; expected torus (the nearest), or"),
    ("analyze rings:4 --on ring:4", "no pattern of that name; expected ring (the nearest), or"),
    ("analyze ring:4 --on mesh:4x4 --nodes job.txt", "no such file; expected hosts 0 to 15 of"),
    ("analyze ring:4 --on leaf-spine:2x2x2 --nodes hh3", "found 'hh3'; expected h3 (the nearest)"),
    ("analyze ring:4 --on leaf-spine:2x2x2 --nodes hh3", "(netloom names --on leaf-spine:2x2x2)"),
    ("analyze ring:4 --on leaf-spine:2x2x2 --failed-nodes spin1", "spine1 or spine0 (the nearest)"),
    ("analyze ring:4 --on leaf-spine:2x2x2 --failed-channels spin1-leaf0", "or two neighbours"),
    ("analyze ring:4 --on examples/my-cluster.txt", "expected graph:examples/my-cluster.txt"),
    ("fabric --on examples/my-cluster.txt", "found a list of links; expected graph:"),
    ("simulate trace examples/chakra --on mesh:2x2", "expected chakra:examples/chakra/%d.et"),
    ("analyze examples/chakra --on mesh:2x2", "netloom simulate trace chakra:examples/chakra/%d"),
]
"""Words in wrong places and misspelt ones: what would do is named."""

MAP = "map examples/lammps-64.mtx --on mesh:8x8 --rounds 1"
MAPS = [
    (f"{MAP} --nodes {{tmp}}/allocated.txt", "allocated.txt:2: found 'x3'"),
    (f"{MAP} --rankfile {{tmp}}/r --rankfile-format cray --on mesh:9x9", "64 tasks for 81 places"),
    (f"{MAP} --rankfile {{tmp}}/r --hosts {{tmp}}/few", "hosts: found 2 host names"),
    (f"{MAP} --plot {{tmp}}/folder.svg", "folder.svg: found a folder"),
    (f"{MAP} --routes {{tmp}}/one", "routes: found the network's own"),
    (f"{MAP} --save-mapping {{tmp}}/one --rankfile {{tmp}}/one", "the same file for two outputs"),
]
"""Had the search run first, its answer would have been printed."""

PLANS = [
    ("--channels many", "Invalid value for '--channels'"),
    ("--order nowhere", "nowhere: found no such file"),
    ("--order {tmp}/circle", "a circle of constraints; expected constraints without a circle"),
    ("--map README.md/m.svg", "README.md/m.svg: found"),
    ("--out docs", "docs: found a folder; expected a file"),
    ("--programs p.txt", "p.txt: found suffix '.txt'"),
    ("--programs README.md/p", "README.md/p: found a place that cannot"),
]
FILES_OF_PLANS = [
    ("compile verify", "Missing argument 'plan'"),
    ("compile verify README.md", "README.md: found no JSON"),
    ("compile run nowhere.json --words 3", "No such option: --words"),
]

LOADS = [
    ("--load none", "load: found 'none'"),
    ("--load 0.1 --vcs 1,2,4", "'--vcs': expected one whole number"),
    ("--load 0.1 --vcs 1,2,4", "experiment file"),
    ("--load 0.1 --plot {tmp}/few/x.svg", "a place that cannot be written"),
    ("--load 0.1 --contexts 2", "--contexts: found no such option"),
    ("--load 0.1 --app ring:8@0-7 --app ring:8@7-14", "host 7"),
    ("--load 0.1 --app ring:8 --app ring:8", "its nodes too, such as ring:8@0-31"),
]
PROGRAMS = [
    ("simulate saturated --on mesh:6x6", "saturated"),
    ("simulate load --on line:4 --failed-channels 1-2 --load 0.1", "no way from node 0"),
    ("simulate pattern ring --on mesh:4x4", "expected one of ab-1nn, aa-1nn"),
    ("simulate broadcast --on torus:4x4 --rate 0 --broadcast 0.1", "rate: found 0"),
    ("simulate trace no-such.csv --on mesh:4x4", "no-such.csv"),
    ("simulate trace {tmp}/after.csv --on mesh:4x4", "after.csv:3: found 'c' in after"),
    ("simulate trace {tmp}/round.csv --on mesh:4x4", "a → b → a"),
    ("simulate trace {tmp}/far.csv --on mesh:4x4", "100 tasks"),
    ("simulate trace {tmp}/less.csv --on mesh:4x4", "less.csv:2: found flits '-5'"),
]

MODELS = [
    ("torus-broadcast --vcs 2", "vcs: found 2; expected 3 to 32"),
    ("torus-broadcast --rate=-0.1", "rate: found -0.1; expected numbers of at least 0"),
    ("torus-broadcast --on mesh:8x8", "on: found mesh:8x8; expected a torus"),
    ("locality --contexts 9", "contexts: found 9; expected at most the 4"),
    ("hypercube", "No such command 'hypercube'"),
]

STORES = [
    ("run {tmp}/none.toml", "none.toml: found no such file"),
    ("run {tmp}/small.toml --workers 0", "workers: found 0"),
    ("run {tmp}/small.toml --cluster tcp://127.0.0.1:9 --dry-run", "a dry run"),
    ("run {tmp}/small.toml --store {tmp}/small.toml", "small.toml: found no store"),
    ("results {tmp}/other.toml", "other.sqlite: found no such file"),
    ("results {tmp}/small.toml --csv a.txt", "a.txt: found suffix '.txt'"),
    ("results {tmp}/small.toml --csv a.parquet", "a.parquet: found suffix '.parquet'"),
]

MISTAKES = [
    *OF_ALL, *FORMS, *MAPS, *FILES_OF_PLANS, *PROGRAMS, *STORES,
    *((f"compile ring:4 --on torus:4 {options}", said) for options, said in PLANS),
    *((f"simulate load --on mesh:6x6 {options}", said) for options, said in LOADS),
    *((f"predict {words}", said) for words, said in MODELS),
]  # fmt: skip


@pytest.fixture(scope="module")
def tmp(tmp_path_factory):
    path = tmp_path_factory.mktemp("mistakes")
    for name, text in FILES.items():
        (path / name).write_text(text)
    for name in ("folder", "folder.svg"):
        (path / name).mkdir()
    return path


@pytest.mark.parametrize(("command", "said"), MISTAKES)
def test_a_mistake_is_one_line_and_exit_code_2(tmp, command, said):
    code, out, err = run(command.format(tmp=tmp))
    assert (code, out) == (2, "")
    assert err.startswith("netloom: ")
    assert err.count("\n") == 1
    assert said in err
