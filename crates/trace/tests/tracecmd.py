"""Compares what trace-cmd reads in a run's trace.dat with the run's timeline as text, record by record.

tracecmd.py RUN.dat RUN.txt
"""

import re
import subprocess
import sys

# Some versions of trace-cmd tell a record's context after the CPU, others where they are asked to.
RECORD = re.compile(r"\s*(.+)-(\d+)\s+\[(\d+)\]\s+(?:\S+\s+)?(\d+\.\d{6}):\s+(\w+):\s+(.*?)\s*")


def records(lines):
    """Task, number, CPU, time, event and fields of each record, sorted: records of one time come in any order."""
    found = []
    for line in lines:
        if line.startswith(("#", "cpus=", "version =")) or line.endswith(" is empty"):
            continue
        match = RECORD.fullmatch(line)
        if match is None:
            sys.exit(f"tracecmd: found {line!r}, expected a record")
        found.append(match.groups())
    return sorted(found)


def main(tracedat, text):
    report = subprocess.run(["trace-cmd", "report", "-N", tracedat], check=True, capture_output=True, text=True)
    if report.stderr:
        sys.exit(f"tracecmd: {report.stderr}")
    ours = records(report.stdout.splitlines())
    with open(text, encoding="utf-8") as file:
        expected = records(file.read().splitlines())
    for a, b in zip(ours, expected):
        if a != b:
            sys.exit(f"tracecmd: trace-cmd reads {a}, expected {b}")
    if len(ours) != len(expected) or not ours:
        sys.exit(f"tracecmd: trace-cmd reads {len(ours)} records, expected {len(expected)}")
    print(f"trace-cmd reads all {len(ours)} records as the text has them")


main(*sys.argv[1:])
