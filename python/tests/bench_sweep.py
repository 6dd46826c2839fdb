"""Two workers against one, over 500 cells: what script/bench-sweep runs. Its name keeps it out of the tests."""

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

    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False)
    try:
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
