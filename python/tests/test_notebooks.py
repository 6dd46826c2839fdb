"""The notebooks of examples/, executed: their own checks hold, and cells print what they show in the repository.

A cell without outputs there is only executed, such as one with the tag `varies`, whose output differs from call to call. ``python
test_notebooks.py`` writes what the others print.
"""

import sys
from pathlib import Path

import nbclient
import nbformat
import pytest

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.ipynb"))
#: Longest that a cell may take, in seconds; a guest's boot is the longest.
LIMIT_S = 900


def executed(path, directory):
    """The notebook after it ran in a directory of its own."""
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(directory)}}
    client = nbclient.NotebookClient(notebook, timeout=LIMIT_S, record_timing=False, resources=resources)
    client.execute()
    for cell in notebook.cells:
        if cell.cell_type == "code" and "varies" in cell.metadata.get("tags", []):
            cell.outputs = []
    return notebook


def printed(notebook):
    """By cell: what it printed, and what its last value is as a picture or text."""

    def shown(output):
        data = output.get("data", {})
        return output.get("text") or data.get("image/svg+xml") or data.get("text/plain")

    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [["".join(shown(output)) for output in cell.outputs if output.get("name") != "stderr"] for cell in code]


def test_there_are_notebooks():
    assert [path.stem for path in NOTEBOOKS] == ["own-machine", "patch-over-machines", "real-kernel"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_it_prints(path, tmp_path):
    shows, prints = printed(nbformat.read(path, as_version=4)), printed(executed(path, tmp_path))
    assert len(shows) == len(prints)
    assert [now for now, shown in zip(prints, shows) if shown] == [shown for shown in shows if shown]
    assert path.stat().st_size < 200_000


if __name__ == "__main__":
    import tempfile

    for path in NOTEBOOKS:
        if sys.argv[1:] in ([], [path.stem]):
            with tempfile.TemporaryDirectory() as directory:
                notebook = executed(path, directory)
            for cell in notebook.cells:
                # A value in one form only: a picture, or text.
                for output in cell.get("outputs", []):
                    if "image/svg+xml" in output.get("data", {}):
                        output.data = {"image/svg+xml": output.data["image/svg+xml"]}
                    elif "text/plain" in output.get("data", {}):
                        output.data = {"text/plain": output.data["text/plain"]}
            notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
            nbformat.write(notebook, path)
