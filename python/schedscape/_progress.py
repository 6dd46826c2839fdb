"""Progress: a function of one's own, or a bar of tqdm where that is installed."""

from __future__ import annotations

from typing import Any, Callable


class _Called:
    def __init__(self, tell: Callable[[int, int], Any]) -> None:
        self._tell = tell

    def __call__(self, done: int, total: int) -> None:
        self._tell(done, total)

    def close(self) -> None:
        """A function has nothing to close."""


class _Bar:
    def __init__(self, bar: Any) -> None:
        self._bar = bar

    def __call__(self, done: int, total: int) -> None:
        self._bar.total = total
        self._bar.n = done
        self._bar.refresh()

    def close(self) -> None:
        self._bar.close()


def reporter(progress: bool | Callable[[int, int], Any] | None, name: str, unit: str) -> Any:
    """What is called with (done, total), and closed; ``None`` for no progress."""
    if progress is None or progress is False:
        return None
    if progress is True:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return None
        return _Bar(tqdm(desc=name, unit=unit))
    if not callable(progress):
        raise TypeError("progress: expected None, True or a function of (done, total)")
    return _Called(progress)
