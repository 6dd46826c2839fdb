"""Experiments, their runs, and what they give."""

import copy
import pickle
import signal
import threading
import time

import pytest
import schedscape

from conftest import FEW


def changed(**fields):
    return {**copy.deepcopy(FEW), **fields}


def test_a_file_a_text_and_fields_are_the_same(few, tmp_path):
    path = tmp_path / "few.toml"
    path.write_text(few.to_toml())
    assert schedscape.Experiment.from_toml(path).to_dict() == few.to_dict()
    assert schedscape.Experiment.from_toml(str(path)).to_dict() == few.to_dict()
    assert schedscape.Experiment.from_toml(few.to_toml()) == few
    assert schedscape.Experiment(**few.to_dict()) == few
    assert pickle.loads(pickle.dumps(few)) == few
    assert (few.variants, few.workloads) == (["base", "big-core"], ["pipe"])


def test_a_list_of_values_makes_workloads():
    fields = changed(workload=[{"name": "t", "runs": 1, "netperf": {"pairs": [1, 2], "warmup_s": 0, "seconds": 1}}])
    assert schedscape.Experiment(**fields).workloads == ["t-1", "t-2"]


@pytest.mark.parametrize(
    ("fields", "field", "found"),
    [
        ({"machine": None}, "", None),
        ({"seeed": 1}, "seeed", "1"),
        ({"seed": "one"}, "seed", '"one"'),
        ({"workload": []}, "workload", "none"),
        ({"workload": [{**FEW["workload"][0], "runs": 0}]}, "workload `pipe`: runs", "0"),
        ({"variant": [{"name": "a", "kernel": "6.12", "hz": 7}]}, "variant `a`: hz", "7"),
    ],
)
def test_wrong_fields_are_named(fields, field, found):
    with pytest.raises(schedscape.Error) as caught:
        schedscape.Experiment(**changed(**fields))
    error = caught.value
    assert (error.file, error.found) == ("Experiment", found)
    assert field in error.field


def test_a_wrong_file_is_named(few, tmp_path):
    path = tmp_path / "few.toml"
    path.write_text(few.to_toml().replace("runs = 4", "runs = 0"))
    with pytest.raises(schedscape.Error) as caught:
        schedscape.Experiment.from_toml(path)
    error = caught.value
    assert (error.file, error.field) == (str(path), "workload `pipe`: runs")
    assert (error.found, error.expected) == ("0", "1 to 100000")
    assert str(error) == f"{path}: {error.field}: found 0, expected 1 to 100000"
    path.write_text("name = \n")
    with pytest.raises(schedscape.Error) as caught:
        schedscape.Experiment.from_toml(path)
    assert (caught.value.file, caught.value.field) == (str(path), "line 1")
    with pytest.raises(schedscape.Error) as caught:
        schedscape.Experiment.from_toml(tmp_path / "none.toml")
    assert caught.value.file.endswith("none.toml") and caught.value.found


def test_what_does_not_fit_the_machine_is_refused_before_it_runs():
    wrong = schedscape.Experiment(**changed(machine="no-such-machine"))
    with pytest.raises(schedscape.Error) as caught:
        wrong.run()
    assert (caught.value.file, caught.value.field) == ("Experiment", "machine")
    assert caught.value.found.startswith("`no-such-machine`")
    moved = schedscape.Experiment(**changed(constants={"no_such_ns": 1.0}))
    with pytest.raises(schedscape.Error) as caught:
        moved.run()
    assert caught.value.field == "constants: no_such_ns"
    tree = schedscape.Experiment(**changed(variant=[{"name": "t", "source": {"kernel": "6.12"}}]))
    with pytest.raises(schedscape.Error) as caught:
        tree.run()
    assert caught.value.field == "variant `t`: source"


def test_runs_do_not_depend_on_threads(few, results, tmp_path):
    assert few.run(threads=2) == results
    results.write(tmp_path / "a")
    few.run(threads=3).write(tmp_path / "b")
    for name in ("manifest.json", "runs.parquet"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert schedscape.Results.read(tmp_path / "a") == results
    with pytest.raises(schedscape.Error, match="one that exists"):
        results.write(tmp_path / "a")


def test_only_the_simulator_runs_here(few):
    with pytest.raises(schedscape.Error) as caught:
        few.run(engine="vm")
    assert (caught.value.field, caught.value.found) == ("engine", "`vm`")
    with pytest.raises(schedscape.Error) as caught:
        few.run(sensitivity="often")
    assert (caught.value.field, caught.value.found) == ("sensitivity", "`often`")


def test_progress_is_told_and_ends_with_all(few):
    told = []
    few.run(threads=1, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (8, 8) and told == sorted(told)
    with pytest.raises(TypeError, match="progress"):
        few.run(progress=3)
    few.run(progress=True)


LONG = changed(workload=[{"name": "pipe", "runs": 20000, "sched_pipe": {"loops": 1000, "loops_run": 500}}])


def test_ctrl_c_ends_runs():
    main = threading.main_thread().ident
    timer = threading.Timer(0.5, lambda: signal.pthread_kill(main, signal.SIGINT))
    began = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        schedscape.Experiment(**LONG).run(threads=1)
    assert 0.4 < time.monotonic() - began < 5


def test_what_progress_raises_ends_runs():
    def tell(done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        schedscape.Experiment(**LONG).run(threads=1, progress=tell)


def test_what_progress_raises_ends_runs_over_ranges():
    told = []

    def tell(done, total):
        told.append((done, total))
        if total > 800:
            raise RuntimeError("enough")

    pipe = {"name": "pipe", "runs": 400, "sched_pipe": {"loops": 1000, "loops_run": 100}}
    with pytest.raises(RuntimeError, match="enough"):
        schedscape.Experiment(**changed(workload=[pipe])).run(threads=1, robust=True, progress=tell)
    # Two places at least take 400 runs of both variants each.
    assert 800 <= told[-1][0] < 1600


def test_other_threads_of_python_go_on_meanwhile():
    counted = []
    ends = threading.Event()

    def count():
        while not ends.wait(0.01):
            counted.append(1)

    def tell(done, total):
        if len(counted) > 20:
            raise InterruptedError

    thread = threading.Thread(target=count)
    thread.start()
    try:
        with pytest.raises(InterruptedError):
            schedscape.Experiment(**LONG).run(threads=1, progress=tell)
    finally:
        ends.set()
        thread.join()


@pytest.mark.parametrize("ending", ["pftrace", "trace", "dat"])
def test_a_run_is_recorded(few, tmp_path, ending):
    path = tmp_path / f"run.{ending}"
    assert few.trace(path, variant="base", run=1) > 100
    assert path.stat().st_size > 1000
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_a_trace_that_cannot_be_leaves_nothing(few, tmp_path):
    for arguments, field in [
        ({"output": tmp_path / "x.doc", "variant": "base"}, "output"),
        ({"output": tmp_path / "x.dat"}, "variant"),
        ({"output": tmp_path / "x.dat", "variant": "base", "run": 4}, "run"),
    ]:
        with pytest.raises(schedscape.Error) as caught:
            few.trace(**arguments)
        assert caught.value.field == field
    assert not list(tmp_path.iterdir())
