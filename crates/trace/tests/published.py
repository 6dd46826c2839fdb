"""Counts what TRAPpy and Perfetto's schema find in a run's two timelines, beside the run's own counters.

published.py RESULTS.json RUN.txt RUN.pftrace
"""

import json
import sys
import warnings

import trappy
from perfetto.protos.perfetto.trace import perfetto_trace_pb2

WORKLOAD, VARIANT = "sched-pipe", "vanilla"
# TRAPpy has classes of its own for sched_switch and cpu_frequency.
PARSED = ["sched_waking", "sched_wakeup", "sched_migrate_task", "cpu_idle"]


def of_text(path):
    """What TRAPpy finds: rows by event, and switches that the simulator counts."""
    warnings.simplefilter("ignore")
    trappy.FTrace.disable_cache = True
    for event in PARSED:
        trappy.register_dynamic_ftrace(event.title().replace("_", ""), event + ":")
    trace = trappy.FTrace(path, normalize_time=False, scope="custom", events=["sched_switch"] + PARSED)
    # Classes that TRAPpy makes while it runs have their event's name.
    switch = trace.sched_switch.data_frame
    to_stopper = switch.next_comm.astype(str).str.startswith("migration/")
    from_stopper = switch.prev_comm.astype(str).str.startswith("migration/") & (switch.next_pid == 0)
    counts = {name: len(getattr(trace, name).data_frame) for name in PARSED}
    return len(switch) - int(to_stopper.sum()) - int(from_stopper.sum()), counts


def of_perfetto(path):
    """What the schema finds: switches that the simulator counts, wakings, other events, arrows."""
    trace = perfetto_trace_pb2.Trace()
    with open(path, "rb") as file:
        trace.ParseFromString(file.read())
    switches = wakings = arrows = 0
    counts = dict.fromkeys(PARSED, 0)
    after_stopper = {}
    for packet in trace.packet:
        arrows += len(packet.track_event.flow_ids)
        bundle = packet.ftrace_events
        compact = bundle.compact_sched
        for pid, name in zip(compact.switch_next_pid, compact.switch_next_comm_index):
            to_stopper = compact.intern_table[name].startswith("migration/")
            switches += not to_stopper and not (after_stopper.get(bundle.cpu, False) and pid == 0)
            after_stopper[bundle.cpu] = to_stopper
        counts["sched_waking"] += len(compact.waking_pid)
        for event in bundle.event:
            kind = event.WhichOneof("event")
            if kind in counts:
                counts[kind] += 1
    return switches, counts, arrows


def main(results, text, pftrace):
    with open(results, encoding="utf-8") as file:
        workloads = json.load(file)["workloads"]
    counters = next(w for w in workloads if w["name"] == WORKLOAD)["counters"][VARIANT]
    from_text, parsed = of_text(text)
    from_perfetto, decoded, arrows = of_perfetto(pftrace)
    rows = [
        ("context_switches", counters["context_switches"], from_text, from_perfetto),
        ("ttwu_count", counters["ttwu_count"], parsed["sched_waking"], decoded["sched_waking"]),
        ("ttwu_count", counters["ttwu_count"], parsed["sched_wakeup"], decoded["sched_wakeup"]),
        ("migrations", None, parsed["sched_migrate_task"], decoded["sched_migrate_task"]),
        ("idle changes", None, parsed["cpu_idle"], decoded["cpu_idle"]),
    ]
    failed = arrows < counters["ttwu_count"]
    print(f"{'':18}{'counter':>10}{'TRAPpy':>10}{'Perfetto':>10}")
    for name, counter, a, b in rows:
        failed |= a != b or counter not in (None, a) or a == 0
        print(f"{name:18}{'-' if counter is None else int(counter):>10}{a:>10}{b:>10}")
    sys.exit(failed)


main(*sys.argv[1:])
