"""Counts of records by CPU and event in recordings of real kernels: ours beside those of the programs that wrote such files.

recorded.py SCHEDSCAPE RECORDINGS [--published]

trace-cmd and perf read the same files. With --published TRAPpy reads what trace-cmd prints, and the schema of Perfetto's Python
package what traced_probes wrote. perf's file from a newer perf than the installed one is left out: it is read by the tests in Rust,
beside what that perf printed.
"""

import collections
import gzip
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings
import zlib

SHOWN = ["sched_switch", "sched_waking", "sched_wakeup", "sched_wakeup_new", "sched_migrate_task", "cpu_idle"]
RECORD = re.compile(r"\[(\d+)\].*?\b(" + "|".join(sorted(SHOWN, key=len, reverse=True)) + r"):")


def of_lines(text):
    """Counts by CPU and event in lines of ftrace's, trace-cmd's and perf's text."""
    found = (RECORD.search(line) for line in text.splitlines() if not line.startswith("#"))
    return collections.Counter((int(match[1]), match[2]) for match in found if match)


def said(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, errors="replace").stdout


def ours(command, recording, work):
    text = work / "ours.txt"
    text.unlink(missing_ok=True)
    said(command, "trace", str(recording), "-o", str(text))
    return of_lines(text.read_text(encoding="utf-8", errors="replace"))


def of_trappy(text, work):
    """What TRAPpy finds in a text: it wants a file with the extension."""
    import trappy

    warnings.simplefilter("ignore")
    trappy.FTrace.disable_cache = True
    for event in SHOWN[1:]:
        trappy.register_dynamic_ftrace(event.title().replace("_", ""), event + ":")
    path = work / "report.txt"
    path.write_text(text, encoding="utf-8")
    trace = trappy.FTrace(str(path), normalize_time=False, scope="custom", events=SHOWN)
    counts = collections.Counter()
    for event in SHOWN:
        frame = getattr(trace, event).data_frame
        counts.update((int(cpu), event) for cpu in (frame["__cpu"] if len(frame) else []))
    return counts


def of_perfetto(data):
    """What the schema finds: events and columns of bundles, in compressed packets too."""
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2

    trace, counts = perfetto_trace_pb2.Trace(), collections.Counter()
    trace.ParseFromString(data)
    for packet in trace.packet:
        if packet.compressed_packets:
            counts += of_perfetto(zlib.decompress(packet.compressed_packets))
        bundle = packet.ftrace_events
        kinds = (event.WhichOneof("event") for event in bundle.event)
        counts.update((bundle.cpu, kind) for kind in kinds if kind in SHOWN)
        counts[bundle.cpu, "sched_switch"] += len(bundle.compact_sched.switch_next_pid)
        counts[bundle.cpu, "sched_waking"] += len(bundle.compact_sched.waking_pid)
    return +counts


def check(name, program, found, expected):
    if found != expected or not found:
        sys.exit(f"recorded: {name}: found {dict(found)}, {program} finds {dict(expected)}")
    print(f"{name}: {sum(found.values())} records by CPU and event as {program} finds them")


def main(command, recordings, published):
    recordings = pathlib.Path(recordings)
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        for dat in sorted(recordings.glob("*.dat")):
            report, found = said("trace-cmd", "report", "-N", str(dat)), ours(command, dat, work)
            check(dat.name, "trace-cmd", found, of_lines(report))
            if published:
                check(dat.name, "TRAPpy", found, of_trappy(report, work))
        for packed in sorted(recordings.glob("perf-pipe-*.data.gz")):
            data = work / packed.stem
            data.write_bytes(gzip.decompress(packed.read_bytes()))
            script = said("perf", "script", "-G", "-F", "cpu,event", "-i", str(data))
            check(packed.name, "perf", ours(command, data, work), of_lines(script))
        for packed in sorted(recordings.glob("*.pftrace*")) if published else []:
            data = packed.read_bytes()
            plain = work / "plain.pftrace"
            plain.write_bytes(gzip.decompress(data) if packed.suffix == ".gz" else data)
            check(packed.name, "Perfetto's schema", ours(command, plain, work), of_perfetto(plain.read_bytes()))


main(sys.argv[1], sys.argv[2], "--published" in sys.argv[3:])
