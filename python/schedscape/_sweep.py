"""Sweeps on whatever runs functions: threads here, Dask, Ray, joblib."""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import Any, Callable, Iterable, Iterator

from ._error import Error
from ._native import Bisection, Effects, Sweep, Turned, run_cell
from ._native import effects as _effects
from ._progress import reporter

#: Batches that each worker has at once, so that none waits for the next one.
_AHEAD = 4
#: How often a batch is given to another worker when one is lost.
_RETRIES = 3


@dataclass(frozen=True)
class Swept:
    """A dataset of a sweep."""

    #: Its directory.
    path: str
    #: How many cells there are to be.
    cells: int
    #: Files of the cells that are missing, below ``cells/``, and why where running them failed.
    missing: dict[str, str | None] = field(default_factory=dict)

    @property
    def parquet(self) -> str:
        """What polars, DuckDB and Spark read: a pattern of all files, whose directories are columns (Hive partitions)."""
        return f"{self.path}/cells/**/*.parquet"

    def effects(self, rows: str = "machine", columns: str = "mechanism", **choice: Any) -> Effects:
        """The effect of a change over two of its axes, as :func:`effects` has it: a table, and a heat map."""
        return effects(self.path, rows, columns, **choice)


def sweep(
    source: Sweep | str | PathLike[str],
    out: str | PathLike[str],
    backend: Any = "threads",
    workers: int = 0,
    batch: int = 8,
    progress: bool | Callable[[int, int], Any] | None = None,
) -> Swept:
    """Runs the cells that the dataset in the directory ``out`` lacks, and says what is missing then.

    ``source`` is a :class:`Sweep`, or what :meth:`Sweep.from_toml` takes. ``backend`` is ``"threads"``, a ``dask.distributed.Client``,
    ``"ray"`` (started here unless it runs), ``"joblib"`` or a ``joblib.Parallel``. ``workers`` is the number of threads or of joblib's
    workers, 0 for one a CPU. ``batch`` is the number of cells that go to a worker of Dask, Ray or joblib at once.

    The bytes of the dataset are the same for any backend and number of workers. A cell that fails, or whose worker was lost too often,
    is missing; others run. Ctrl-C leaves a whole dataset behind, to which the next call adds what is missing.
    """
    if not isinstance(source, Sweep):
        source = Sweep.from_toml(source)
    if batch < 1:
        raise Error(f"batch: found {batch}, expected 1 or more", None, "batch", str(batch), "1 or more")
    run = _backend(backend, workers)
    path = fspath(out)
    dataset = source.open(path)
    tell = reporter(progress, "sweep", "cell")
    try:
        if run is None:
            summary = dataset.run(workers, tell)
        else:
            summary = _run(source, dataset, run, batch, tell)
    finally:
        if tell is not None:
            tell.close()
        dataset.close()
    return Swept(path, summary["cells"], summary["missing"])


def effects(
    path: str | PathLike[str],
    rows: str = "machine",
    columns: str = "mechanism",
    *,
    workload: str | None = None,
    metric: str | None = None,
    variant: str | None = None,
    only: dict[str, Any] | None = None,
) -> Effects:
    """The effect of a change over two axes of the sweep in the directory ``path``: ``rows`` down and ``columns`` across, names of axes or
    ``"variant"``.

    Seeds are pooled: their runs are further runs. Any other axis with several values needs one in ``only``: ``{"kernel": "6.12"}``.
    ``workload`` and ``variant`` may be left out where there is one, ``metric`` is the workload's first if left out. Raises :class:`Error`
    for what the sweep does not have.
    """
    return _effects(fspath(path), (rows, columns), (workload, metric, variant), only or {})


def bisect(
    source: Bisection | str | PathLike[str],
    out: str | PathLike[str],
    backend: Any = "threads",
    workers: int = 0,
    batch: int = 8,
    progress: bool | Callable[[int, int], Any] | None = None,
) -> Turned:
    """Finds at which value of a parameter a change turns from gain to loss. What it needs to know for that, it runs.

    ``source`` is a :class:`Bisection`, or what :meth:`Bisection.from_toml` takes. Its runs are cells of the dataset in the directory
    ``out``, and what that has is not run again. The other arguments are those of :func:`sweep`. Raises :class:`Error` for a cell that
    fails.
    """
    if not isinstance(source, Bisection):
        source = Bisection.from_toml(source)
    path = fspath(out)
    while isinstance(step := source.next(path), Sweep):
        swept = sweep(step, path, backend, workers, batch, progress)
        for cell, why in swept.missing.items():
            raise Error(f"{path}: {cell}: {why}", path, cell, why)
    return step


Batch = list[tuple[int, bytes]]
Given = list[tuple[int, "bytes | None", "str | None"]]


def run_batch(cells: Batch) -> Given:
    """What cells give, by their numbers: bytes, or why there are none. A pure function of data: a worker needs this package only."""

    def given(number: int, cell: bytes) -> tuple[int, bytes | None, str | None]:
        try:
            return number, run_cell(cell), None
        except Error as error:
            return number, None, str(error)

    return [given(*cell) for cell in cells]


def _run(sweep: Sweep, dataset: Any, run: Callable[[Iterator[Batch]], Iterable[Given]], batch: int, tell: Any) -> Any:
    missing = dataset.missing()
    failed: dict[int, str] = {}
    done = len(sweep) - len(missing)
    starts = range(0, len(missing), batch)
    batches = ([(at, sweep.cell(at)) for at in missing[start : start + batch]] for start in starts)
    try:
        for given in run(batches):
            for number, found, reason in given:
                if found is None:
                    failed[number] = reason or "lost"
                else:
                    dataset.store(number, found)
            done += len(given)
            if tell is not None:
                tell(done, len(sweep))
    finally:
        summary = dataset.summarise(failed)
    return summary


def _lost(batch: Batch, reason: object) -> Given:
    return [(number, None, f"no worker ran it: {reason}") for number, _ in batch]


def _backend(backend: Any, workers: int) -> Callable[[Iterator[Batch]], Iterable[Given]] | None:
    """What runs batches, in any order; ``None`` for threads."""
    if backend == "threads":
        return None
    if backend == "ray":
        return _ray
    if backend == "joblib":
        import joblib

        return _joblib(joblib.Parallel(n_jobs=workers or -1, return_as="generator_unordered"))
    module = type(backend).__module__.split(".")[0]
    if module == "distributed":
        return _dask(backend)
    if module == "joblib":
        return _joblib(backend)
    expected = "threads, ray, joblib, a joblib.Parallel or a dask.distributed.Client"
    raise Error(f"backend: found {backend!r}, expected {expected}", None, "backend", repr(backend), expected)


def _dask(client: Any) -> Callable[[Iterator[Batch]], Iterable[Given]]:
    def run(batches: Iterator[Batch]) -> Iterable[Given]:
        from distributed import as_completed

        ahead = _AHEAD * max(1, sum(client.nthreads().values()))
        waiting: dict[Any, Batch] = {}
        ended = as_completed()

        def submit(batch: Batch) -> None:
            future = client.submit(run_batch, batch, pure=False, retries=_RETRIES)
            waiting[future] = batch
            ended.add(future)

        try:
            for _, batch in zip(range(ahead), batches):
                submit(batch)
            for future in ended:
                batch = waiting.pop(future)
                try:
                    # A result that was lost with its worker is made again while this waits.
                    given = future.result()
                except Exception as error:
                    given = _lost(batch, error)
                yield given
                future.release()
                for batch in batches:
                    submit(batch)
                    break
        finally:
            client.cancel(list(waiting))

    return run


def _ray(batches: Iterator[Batch]) -> Iterable[Given]:
    import ray

    if not ray.is_initialized():
        ray.init()
    task = ray.remote(max_retries=_RETRIES)(run_batch)
    ahead = _AHEAD * max(1, int(ray.cluster_resources().get("CPU", 1)))
    waiting: dict[Any, Batch] = {}
    try:
        for _, batch in zip(range(ahead), batches):
            waiting[task.remote(batch)] = batch
        while waiting:
            [ended], _ = ray.wait(list(waiting), num_returns=1)
            batch = waiting.pop(ended)
            try:
                yield ray.get(ended)
            except ray.exceptions.RayError as error:
                yield _lost(batch, error)
            for batch in batches:
                waiting[task.remote(batch)] = batch
                break
    finally:
        for task_ in waiting:
            ray.cancel(task_, force=True)


def _joblib(parallel: Any) -> Callable[[Iterator[Batch]], Iterable[Given]]:
    def run(batches: Iterator[Batch]) -> Iterable[Given]:
        from joblib import delayed

        waiting: dict[int, Batch] = {}

        def calls() -> Iterator[Any]:
            for batch in batches:
                waiting[batch[0][0]] = batch
                yield delayed(run_batch)(batch)

        try:
            for given in parallel(calls()):
                del waiting[given[0][0]]
                yield given
        except Exception as error:
            # joblib gives up all its calls when one of its processes is lost.
            for batch in [*waiting.values(), *batches]:
                yield _lost(batch, error)

    return run
