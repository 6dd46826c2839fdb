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
    Domains,
    Experiment,
    Machine,
    Results,
    Table,
    catalog,
    domains,
    mechanisms,
)

__all__ = [
    "Domains",
    "Error",
    "Experiment",
    "Machine",
    "Results",
    "Table",
    "catalog",
    "domains",
    "mechanisms",
]
