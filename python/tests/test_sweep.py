"""Sweeps by every backend."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import distributed
import duckdb
import joblib
import polars
import pytest
import schedscape

from conftest import FEW

BASE = {**FEW, "variant": FEW["variant"][:1], "machine": None}
GRID = {
    "machine": ["power9-big-core", "kunpeng920-1node"],
    "mechanism": ["small-core-smt=on"],
    "workload.pipe.sched_pipe.loops_run": [20, 30],
    "seed": [1, 2, 3],
}


def small():
    return schedscape.Sweep(BASE, GRID)


def files(directory):
    paths = [p for p in Path(directory).rglob("*") if p.is_file()]
    return {str(p.relative_to(directory)): p.read_bytes() for p in paths}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The files of the sweep by one thread."""
    out = tmp_path_factory.mktemp("whole") / "out"
    swept = schedscape.sweep(small(), out, workers=1)
    assert swept.missing == {} and swept.cells == 12
    return files(out)


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as client:
        yield client


def test_a_dataset_is_read_as_it_is(tmp_path):
    swept = schedscape.sweep(small(), tmp_path / "out")
    rows = polars.read_parquet(swept.parquet, hive_partitioning=True)
    assert rows.height == 12 * 2 * 4
    assert set(rows["mechanism"]) == {"small-core-smt=on"} and set(rows["variant"]) == {"base", "small-core-smt=on"}
    assert sorted(set(rows["seed"])) == [1, 2, 3]
    query = f"select machine, count(*) from read_parquet('{swept.parquet}', hive_partitioning=true) group by machine"
    assert dict(duckdb.sql(query).fetchall()) == {"power9-big-core": 48, "kunpeng920-1node": 48}


def test_a_file_and_a_grid_are_the_same(tmp_path):
    lists = "".join(f'"{name}" = {json.dumps(values)}\n' for name, values in GRID.items() if "." not in name)
    path = tmp_path / "sweep.toml"
    path.write_text(
        'name = "few"\nvariant = [{ name = "base", kernel = "4.18" }]\n'
        'workload = [{ name = "pipe", runs = 4, sched_pipe = { loops = 1000, loops_run = 50 } }]\n'
        f"[sweep]\n{lists}workload.pipe.sched_pipe.loops_run = [20, 30]\n"
    )
    by_file, by_grid = schedscape.Sweep.from_toml(path), small()
    assert by_file.axes == by_grid.axes == list(GRID)
    assert [by_file.key(at) for at in range(12)] == [by_grid.key(at) for at in range(12)]


@pytest.mark.parametrize("workers", [2, 0])
def test_threads(tmp_path, whole, workers):
    told = []
    schedscape.sweep(small(), tmp_path / "out", workers=workers, progress=lambda *now: told.append(now))
    assert files(tmp_path / "out") == whole and told[-1] == (12, 12)


def test_dask(tmp_path, whole, client):
    swept = schedscape.sweep(small(), tmp_path / "out", backend=client, batch=2)
    assert swept.missing == {} and files(tmp_path / "out") == whole


@pytest.mark.parametrize("given", ["joblib", "parallel"])
def test_joblib(tmp_path, whole, given):
    backend = given if given == "joblib" else joblib.Parallel(n_jobs=2, return_as="generator_unordered")
    schedscape.sweep(small(), tmp_path / "out", backend=backend, workers=2, batch=5)
    assert files(tmp_path / "out") == whole


def test_ray(tmp_path, whole):
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        schedscape.sweep(small(), tmp_path / "out", backend="ray", batch=3)
    finally:
        ray.shutdown()
    assert files(tmp_path / "out") == whole


def test_a_lost_worker_loses_nothing(tmp_path, whole):
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster, distributed.Client(cluster) as client:
        killed = []

        def kill(done, cells):
            if done >= 2 and not killed:
                worker = next(iter(client.run(os.getpid).values()))
                killed.append(worker)
                os.kill(worker, signal.SIGKILL)

        swept = schedscape.sweep(small(), tmp_path / "out", backend=client, batch=1, progress=kill)
    assert killed and swept.missing == {}
    assert files(tmp_path / "out") == whole


def processes(words):
    """Numbers of the processes below this one that have ``words`` in their command line."""
    parents, found = {}, []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            # What follows the name, which may hold anything: state, parent.
            parents[int(path.name)] = int((path / "stat").read_text().rpartition(")")[2].split()[1])
            if words in (path / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"):
                found.append(int(path.name))
        except OSError:
            continue

    def is_below(process):
        above = parents.get(process, 0)
        return above == os.getpid() or (above != 0 and is_below(above))

    return [process for process in found if is_below(process)]


def test_a_lost_worker_of_ray_loses_nothing(tmp_path, whole):
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    killed = []

    def kill(done, cells):
        if done >= 2 and not killed:
            # Ray names a worker after what it runs.
            killed.extend(processes("ray::run_batch") or processes("ray::IDLE"))
            os.kill(killed[0], signal.SIGKILL)

    try:
        swept = schedscape.sweep(small(), tmp_path / "out", backend="ray", batch=1, progress=kill)
    finally:
        ray.shutdown()
    assert killed and swept.missing == {}
    assert files(tmp_path / "out") == whole


def test_a_lost_process_of_joblib_is_made_up_for_by_the_next_call(tmp_path):
    many = schedscape.Sweep(BASE, {**GRID, "seed": list(range(10)), "workload.pipe.runs": [50]})
    out, killed = tmp_path / "out", []

    def kill(done, cells):
        if not killed:
            killed.extend(processes("joblib.externals.loky.backend"))
            for process in killed:
                os.kill(process, signal.SIGKILL)

    parallel = joblib.Parallel(n_jobs=2, return_as="generator_unordered")
    swept = schedscape.sweep(many, out, backend=parallel, batch=1, progress=kill)
    assert killed and swept.missing and all("no worker ran it" in why for why in swept.missing.values())
    there = [name for name in files(out) if name.endswith(".parquet")]
    assert there and len(there) + len(swept.missing) == 40
    assert schedscape.sweep(many, out, backend="joblib", workers=2).missing == {}
    schedscape.sweep(many, tmp_path / "one", workers=1)
    assert files(out) == files(tmp_path / "one")


class Cluster:
    """Dask's scheduler and two workers as processes of their own, at an address that stays."""

    def __init__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.processes = []
        self.start()

    def start(self):
        scheduler = ["distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard"]
        worker = ["distributed.cli.dask_worker", self.address, "--nthreads", "1", "--no-dashboard", "--no-nanny"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.processes = [subprocess.Popen([sys.executable, "-m", *what], **quiet) for what in (scheduler, worker, worker)]

    def kill(self):
        for process in self.processes:
            process.kill()
            process.wait()


def test_a_scheduler_that_is_restarted_loses_what_it_had_until_the_next_call(tmp_path, whole):
    cluster, out = Cluster(), tmp_path / "out"
    try:
        with distributed.Client(cluster.address, timeout=60) as client:
            client.wait_for_workers(2, timeout=60)
            restarted = []

            def restart(done, cells):
                if done >= 2 and not restarted:
                    restarted.append(done)
                    cluster.kill()
                    cluster.start()

            swept = schedscape.sweep(small(), out, backend=client, batch=1, progress=restart)
        # What the scheduler had is missing, and said to be; a new client finds the new one.
        assert restarted and swept.missing and all("no worker ran it" in why for why in swept.missing.values())
        there = {path.name for path in out.rglob("*.parquet")}
        assert len(there) + len(swept.missing) == 12 and len(there) >= 2
        with distributed.Client(cluster.address, timeout=60) as client:
            assert schedscape.sweep(small(), out, backend=client, batch=1).missing == {}
    finally:
        cluster.kill()
    assert files(out) == whole


def interrupted(done, cells):
    if done >= 4:
        raise KeyboardInterrupt


def test_an_interrupted_sweep_goes_on(tmp_path, whole, client):
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        schedscape.sweep(small(), out, backend=client, batch=1, progress=interrupted)
    missing = json.loads((out / "sweep.json").read_text())["missing"]
    there = [name for name in files(out) if name.endswith(".parquet")]
    assert 4 <= len(there) < 12 and len(missing) + len(there) == 12
    began = {name: (out / name).stat().st_mtime_ns for name in there}
    schedscape.sweep(small(), out, workers=1)
    assert files(out) == whole
    assert {name: (out / name).stat().st_mtime_ns for name in there} == began


def test_ctrl_c_ends_a_sweep_of_threads(tmp_path):
    many = schedscape.Sweep(BASE, {**GRID, "seed": list(range(200)), "workload.pipe.runs": [200]})
    main = threading.main_thread().ident
    threading.Timer(0.5, lambda: signal.pthread_kill(main, signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        schedscape.sweep(many, tmp_path / "out", workers=1)
    missing = json.loads((tmp_path / "out" / "sweep.json").read_text())["missing"]
    there = [name for name in files(tmp_path / "out") if name.endswith(".parquet")]
    assert there and len(missing) + len(there) == 800


def test_the_call_after_ctrl_c_completes_the_dataset(tmp_path):
    many = schedscape.Sweep(BASE, {**GRID, "seed": list(range(30)), "workload.pipe.runs": [50]})

    def press(done, cells):
        if 5 <= done < cells:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        schedscape.sweep(many, tmp_path / "cut", workers=1, progress=press)
    assert len(json.loads((tmp_path / "cut" / "sweep.json").read_text())["missing"]) > 0
    assert schedscape.sweep(many, tmp_path / "cut", workers=2).missing == {}
    schedscape.sweep(many, tmp_path / "whole", workers=1)
    assert files(tmp_path / "cut") == files(tmp_path / "whole")


def test_a_cell_that_fails_is_missing_with_the_reason(tmp_path, client):
    # A machine without constants, on which nothing can be simulated.
    grid = {**GRID, "machine": ["power9-big-core", "synthetic:core:2 pu:1"]}
    for backend in ("threads", client):
        swept = schedscape.sweep(schedscape.Sweep(BASE, grid), tmp_path / type(backend).__name__, backend=backend)
        assert len(swept.missing) == 6 and all("Sweep: " in why for why in swept.missing.values())


@pytest.mark.parametrize(
    ("grid", "field"),
    [
        ({"machine": []}, "sweep.machine"),
        ({"machine": ["no-such-machine"]}, "machine"),
        ({"machine": ["power8"], "mechanism": ["small-core-smt"]}, "sweep.mechanism"),
        ({"machine": ["power9-big-core"], "workload.tube.runs": [1]}, "sweep.workload.tube.runs"),
        ({"machine": ["power9-big-core"], "seed": [-1]}, "seed"),
        ({}, "sweep"),
    ],
)
def test_bad_axes_are_one_exception_and_write_nothing(tmp_path, grid, field):
    with pytest.raises(schedscape.Error) as caught:
        schedscape.sweep(schedscape.Sweep(BASE, grid), tmp_path / "out")
    assert (caught.value.file, caught.value.field) == ("Sweep", field)
    assert not list(tmp_path.iterdir())


def test_arguments_that_cannot_be_write_nothing(tmp_path):
    for arguments, field in [({"backend": "slurm"}, "backend"), ({"batch": 0}, "batch")]:
        with pytest.raises(schedscape.Error) as caught:
            schedscape.sweep(small(), tmp_path / "out", **arguments)
        assert caught.value.field == field
    assert not list(tmp_path.iterdir())
    with pytest.raises(schedscape.Error, match="cell"):
        schedscape._native.run_cell(b"{}")
