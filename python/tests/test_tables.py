"""Tables in the libraries that read them."""

import duckdb
import pandas
import polars
import pyarrow
import schedscape

from conftest import FEW


def test_samples_have_a_row_for_each_value(results):
    samples = polars.DataFrame(results.samples())
    assert samples.columns == ["workload", "variant", "run", "seed", "name", "unit", "better", "value"]
    assert samples.height == len(results.samples()) == 8
    assert samples["variant"].to_list() == ["base"] * 4 + ["big-core"] * 4
    assert samples["run"].to_list() == [0, 1, 2, 3] * 2
    assert (samples["value"] > 0).all()
    assert set(samples["unit"]) == {"s"}


def test_counters_are_whole_numbers(results):
    counters = pyarrow.table(results.counters())
    assert counters.schema.field("value").type == pyarrow.uint64()
    assert counters.schema.field("value").metadata[b"help"] == b"The value, in its unit"
    assert counters.num_rows % 8 == 0


def test_comparisons_say_what_the_command_says(results):
    table = results.comparisons()
    assert table.help["verdict"].startswith("What the runs prove")
    [row] = polars.DataFrame(table).rows(named=True)
    assert (row["workload"], row["variant"], row["baseline_runs"]) == ("pipe", "big-core", 4)
    assert row["low"] <= row["percent"] <= row["high"]
    assert row["verdict"] in {"better", "worse", "no-difference"}
    assert f"Percent change {row['percent']:+.2f}%" in results.compare() == str(results)
    found = results.to_dict()["workloads"][0]["metrics"][0]["variants"][1]["comparison"]
    assert found["percent"]["estimate"] == row["percent"]
    assert results.compare("csv").count("\n") > 1


def test_moved_constants_say_what_the_command_says(results):
    variants = [FEW["variant"][0], {"name": "v5", "kernel": "4.18", "mechanisms": {"small-core-smt": True}}]
    pipe = {"name": "pipe", "runs": 30, "sched_pipe": {"loops": 1000000, "loops_run": 300}}
    experiment = schedscape.Experiment(**{**FEW, "variant": variants, "workload": [pipe]})
    moved = experiment.run(sensitivity="always", robust=True)
    [row] = polars.DataFrame(moved.robustness()).rows(named=True)
    [same] = polars.DataFrame(moved.comparisons()).rows(named=True)
    assert all(row[name] == same[name] for name in ("workload", "name", "variant", "percent", "low", "high", "verdict"))
    # What a line costs between small cores decides whether v5 gains.
    assert (row["verdict"], row["conclusion"]) == ("worse", "undecided") and "handover_big_core_ns" in row["turned_by"]
    assert row["least"] < row["percent"] < 0 < row["most"] and row["opposite"] + row["unproven"] > 0
    said = " ".join(str(moved).split())
    assert f"Over {row['constants']} constants: UNDECIDED." in said
    swings = polars.DataFrame(moved.swings())
    assert 0 < swings.height <= 3 and all(name in said for name in swings["constant"])
    assert (swings["low"] < swings["high"]).all() and (swings["low"] <= swings["value"]).all()
    hangs = polars.DataFrame(moved.elasticities())
    assert 0 < hangs.height <= 3 and (hangs["low"] * hangs["high"] > 0).all()
    assert experiment.run(threads=1, sensitivity="always", robust=True) == moved
    # What was not asked for has no rows.
    assert len(results.robustness()) == len(results.swings()) == len(results.elasticities()) == 0


def test_libraries_agree(results):
    samples = results.samples()
    by_polars = polars.DataFrame(samples)["value"].to_list()
    assert pyarrow.table(samples).column("value").to_pylist() == by_polars
    assert polars.from_arrow(samples).struct.unnest()["value"].to_list() == by_polars
    assert polars.from_arrow(pyarrow.table(samples))["value"].to_list() == by_polars
    assert pandas.DataFrame.from_arrow(samples)["value"].tolist() == by_polars
    query = "select variant, avg(value) from samples group by variant order by variant"
    assert [row[0] for row in duckdb.sql(query).fetchall()] == ["base", "big-core"]


def test_numbers_are_not_copied(results):
    samples = results.samples()
    addresses = {pyarrow.table(samples).column("value").chunk(0).buffers()[1].address for _ in range(2)}
    assert len(addresses) == 1
