"""The one exception of the package."""

from __future__ import annotations


class Error(Exception):
    """Something that schedscape refuses. ``str(error)`` is the line that the command would print.

    The parts of that line are attributes: ``file``, ``field``, ``found`` and ``expected``. A part that is not known apart from the
    line is ``None``.
    """

    def __init__(
        self,
        message: str,
        file: str | None = None,
        field: str | None = None,
        found: str | None = None,
        expected: str | None = None,
    ) -> None:
        super().__init__(message, file, field, found, expected)
        self.file = file
        self.field = field
        self.found = found
        self.expected = expected

    def __str__(self) -> str:
        return str(self.args[0])
