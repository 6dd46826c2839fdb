"""schedscape: what a scheduling change does to a workload on a machine, before anybody touches a kernel.

>>> import schedscape
>>> machine = schedscape.Machine("power9-big-core")
>>> print(schedscape.domains(machine, "6.12").log())
>>> results = schedscape.Experiment.from_toml("first.toml").run()
>>> polars.DataFrame(results.comparisons())

Whatever is refused raises :class:`Error`.
"""

from ._error import Error
from ._native import (
    Bisection,
    Dataset,
    Domains,
    Effects,
    Experiment,
    Machine,
    Results,
    Sweep,
    Table,
    Turned,
    catalog,
    compare,
    domains,
    mechanisms,
)
from ._sweep import Swept, bisect, effects, sweep

__all__ = [
    "Bisection",
    "Dataset",
    "Domains",
    "Effects",
    "Error",
    "Experiment",
    "Machine",
    "Results",
    "Sweep",
    "Swept",
    "Table",
    "Turned",
    "bisect",
    "catalog",
    "compare",
    "domains",
    "effects",
    "mechanisms",
    "sweep",
]
