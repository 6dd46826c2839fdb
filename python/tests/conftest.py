"""What several tests use."""

import pytest
import schedscape

FEW = {
    "name": "few",
    "machine": "power9-big-core",
    "variant": [
        {"name": "base", "kernel": "4.18"},
        {"name": "big-core", "kernel": "4.18", "mechanisms": {"small-core-smt": True, "big-core-cache": True}},
    ],
    "workload": [{"name": "pipe", "runs": 4, "sched_pipe": {"loops": 1000, "loops_run": 50}}],
}


@pytest.fixture
def few():
    """An experiment that takes milliseconds: eight runs of sched pipe."""
    return schedscape.Experiment(**FEW)


@pytest.fixture(scope="session")
def results():
    """What that experiment gives."""
    return schedscape.Experiment(**FEW).run(threads=1)
