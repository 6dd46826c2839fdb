"""What a sweep answers: where a change matters, and where it turns."""

import json
from pathlib import Path

import distributed
import polars
import pyarrow
import pytest
import schedscape

from conftest import FEW

BASE = {**FEW, "variant": FEW["variant"][:1], "machine": None}
GRID = {
    "machine": ["power9-big-core", "kunpeng920-1node"],
    "mechanism": ["small-core-smt=on", "wa-weight=off"],
    "seed": [1, 2],
}
SEARCH = {"parameter": "workload.hackbench.hackbench.groups", "from": 1, "to": 9, "width": 2, "seeds": 2}
HACKBENCH = {"groups": 1, "loops": 5, "fds": 2, "datasize": 100, "pipe": True}
GROUPS = {**FEW, "workload": [{"name": "hackbench", "runs": 4, "hackbench": HACKBENCH}]}


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """A sweep over machines, mechanisms and seeds."""
    return schedscape.sweep(schedscape.Sweep(BASE, GRID), tmp_path_factory.mktemp("grid") / "out")


def files(directory):
    paths = [p for p in Path(directory).rglob("*") if p.is_file()]
    return {str(p.relative_to(directory)): p.read_bytes() for p in paths}


def test_effects_are_a_table_and_a_picture(swept):
    effects = swept.effects()
    rows = polars.DataFrame(effects)
    assert rows.columns[:4] == effects.columns[:4] == ["machine", "mechanism", "workload", "name"]
    assert rows.height == len(effects) == 4
    # Two seeds of four runs each.
    assert set(rows["variant_runs"]) == {8}
    assert set(rows["verdict"]) <= {"better", "worse", "no-difference", "none"}
    assert pyarrow.table(effects).schema.field("percent").metadata[b"unit"] == b"%"
    picture = effects._repr_svg_()
    assert picture.startswith("<svg") and picture == effects.svg() and "kunpeng920-1node" in picture
    assert effects.to_dict()["comparisons"] == rows["percent"].is_not_null().sum()
    largest = max(rows["percent"].drop_nulls(), key=abs)
    assert f"{largest:+.2f}" in str(effects)


def test_effects_are_those_of_the_same_runs(swept):
    """One seed of one cell is the experiment itself."""
    rows = polars.DataFrame(swept.effects(rows="mechanism", columns="machine", only={"seed": 2}))
    mine = rows.filter(machine="kunpeng920-1node", mechanism="wa-weight=off").row(0, named=True)
    variants = [*BASE["variant"], {"name": "off", "kernel": "4.18", "mechanisms": {"wa-weight": False}}]
    same = {**BASE, "machine": "kunpeng920-1node", "variant": variants, "seed": 2}
    [own] = polars.DataFrame(schedscape.Experiment(**same).run().comparisons()).rows(named=True)
    for name in ("baseline_mean", "variant_mean", "percent", "low", "high"):
        assert mine[name] == pytest.approx(own[name], rel=1e-12), name
    assert (mine["better"], mine["unit"]) == (own["better"], own["unit"])


def test_what_cannot_be_asked_is_an_error(swept):
    for asked, field, found in [
        ({"rows": "kernel"}, "rows", "`kernel`"),
        ({"columns": "seed"}, "mechanism", "small-core-smt=on, wa-weight=off"),
        ({"only": {"seed": 3}}, "only seed", "`3`"),
        ({"metric": "watts"}, "metric", "`watts`"),
    ]:
        with pytest.raises(schedscape.Error) as caught:
            swept.effects(**asked)
        assert (caught.value.file, caught.value.field, caught.value.found) == (swept.path, field, found)
    with pytest.raises(schedscape.Error, match="sweep.json"):
        schedscape.effects(Path(swept.path) / "cells")


def test_a_search_has_the_same_bytes_from_any_backend(tmp_path):
    told = []
    search = schedscape.Bisection(GROUPS, SEARCH)
    turned = schedscape.bisect(search, tmp_path / "a", workers=1, progress=lambda *now: told.append(now))
    points = polars.DataFrame(turned.points())
    assert {1, 3, 5, 7, 9} <= set(points["value"]) and points["value"].is_sorted()
    assert told[-1][0] == told[-1][1] == len(list((tmp_path / "a").rglob("*.parquet")))
    assert turned.answer in str(turned) and turned.to_dict()["turns"] is not None
    # What was run is not run again.
    before = {p: p.stat().st_mtime_ns for p in (tmp_path / "a").rglob("*.parquet")}
    again = schedscape.bisect(search, tmp_path / "a")
    assert again.to_dict() == turned.to_dict()
    assert {p: p.stat().st_mtime_ns for p in (tmp_path / "a").rglob("*.parquet")} == before
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            text = schedscape.Experiment(**GROUPS).to_toml()
            lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in SEARCH.items())
            (tmp_path / "b.toml").write_text(f"{text}\n[bisect]\n{lines}")
            other = schedscape.bisect(tmp_path / "b.toml", tmp_path / "b", backend=client, batch=1)
    assert other.to_dict() == turned.to_dict() and files(tmp_path / "b") == files(tmp_path / "a")


@pytest.mark.parametrize(
    ("change", "field"),
    [({"to": 1}, "bisect.to"), ({"width": 0}, "bisect.width"), ({"variant": "x"}, "bisect.variant")],
)
def test_a_bad_search_is_one_exception_and_writes_nothing(tmp_path, change, field):
    with pytest.raises(schedscape.Error) as caught:
        schedscape.bisect(schedscape.Bisection(GROUPS, {**SEARCH, **change}), tmp_path / "out")
    assert caught.value.file == "Bisection" and caught.value.field.startswith(field)
    assert not list(tmp_path.iterdir())


def test_a_search_whose_cells_fail_is_an_error(tmp_path):
    # A machine without constants, on which nothing can be simulated.
    search = schedscape.Bisection({**GROUPS, "machine": "synthetic:core:2 pu:1"}, SEARCH)
    with pytest.raises(schedscape.Error, match="Bisection: "):
        schedscape.bisect(search, tmp_path / "out")


def test_compare_is_what_the_command_prints(results, tmp_path):
    assert schedscape.compare(results) == results.compare()
    results.write(tmp_path / "a")
    assert schedscape.compare(tmp_path / "a") == results.compare()
    both = schedscape.compare(results, tmp_path / "a")
    assert "change from base in percent" in both and "sim 2" in both
    with pytest.raises(schedscape.Error, match="one or more"):
        schedscape.compare()
    with pytest.raises(TypeError, match="Results or a directory"):
        schedscape.compare(3)
