"""What script/bench-sweep runs: two workers against one, and what a cell costs. Its name keeps it out of the tests."""

import resource
import time

import distributed
import pytest
import schedscape

from conftest import FEW

#: A cell takes about 50 ms, as cells of small studies do.
EXPERIMENT = {
    **FEW,
    "workload": [{"name": "pipe", "runs": 5, "sched_pipe": {"loops": 1000000, "loops_run": 2000}}],
}
GRID = {"seed": list(range(500))}
LEAST = 1.8


def dask(workers, out):
    with distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            client.wait_for_workers(workers)
            # The first batch imports the package.
            client.run(__import__, "schedscape")
            return seconds(client, out)


def ray(workers, out):
    import ray

    def begin():
        __import__("schedscape")
        # So long that no worker takes two of these.
        time.sleep(2)

    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False)
    try:
        ray.get([ray.remote(begin).remote() for _ in range(workers)])
        return seconds("ray", out)
    finally:
        ray.shutdown()


def seconds(backend, out):
    sweep = schedscape.Sweep(EXPERIMENT, GRID)
    began = time.monotonic()
    swept = schedscape.sweep(sweep, out, backend=backend)
    took = time.monotonic() - began
    assert swept.missing == {} and swept.cells == 500
    return took


@pytest.mark.parametrize("run", [dask, ray], ids=["dask", "ray"])
def test_two_workers_are_nearly_twice_as_fast(run, tmp_path):
    one, two = run(1, tmp_path / "one"), run(2, tmp_path / "two")
    print(f"\n{run.__name__}: {one:.1f} s with one worker, {two:.1f} s with two, {one / two:.2f} times as fast")
    assert one / two >= LEAST


#: Cells that take hardly longer than nothing.
TINY = {**FEW, "workload": [{"name": "pipe", "runs": 1, "sched_pipe": {"loops": 1000, "loops_run": 10}}]}
CELLS = 10000


def overhead(backend, out, most_ms):
    began = time.monotonic()
    swept = schedscape.sweep(schedscape.Sweep(TINY, {"seed": list(range(CELLS))}), out, backend=backend)
    ms = (time.monotonic() - began) * 1000 / CELLS
    mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\n{type(backend).__name__}: {ms:.2f} ms a cell, driver {mib:.0f} MiB")
    assert swept.missing == {} and ms < most_ms and mib < 500


def test_a_tiny_cell_on_threads(tmp_path):
    overhead("threads", tmp_path / "out", 2)


def test_a_tiny_cell_on_dask(tmp_path):
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            client.run(__import__, "schedscape")
            overhead(client, tmp_path / "out", 20)
