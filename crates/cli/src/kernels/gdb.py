# SPDX-License-Identifier: GPL-2.0-only
"""gdb in a run under a kernel's own scheduler: stops it at a moment and shows what the scheduler has.

All is read from memory; nothing is called, so looking changes nothing.
"""
import gdb

FLAGS = (
    "BALANCE_NEWIDLE BALANCE_EXEC BALANCE_FORK BALANCE_WAKE WAKE_AFFINE ASYM_CPUCAPACITY ASYM_CPUCAPACITY_FULL "
    "SHARE_CPUCAPACITY CLUSTER SHARE_LLC SHARE_PKG_RESOURCES SERIALIZE ASYM_PACKING PREFER_SIBLING NUMA"
).split()
STATES = {0: "R", 1: "S", 2: "D", 0x402: "I"}


def value(expression):
    return gdb.parse_and_eval(expression)


def field(of, *names):
    """The first of these fields that the release has."""
    for name in names:
        try:
            return of[name]
        except gdb.error:
            continue
    return None


def cast(address, name):
    return gdb.Value(address & (2**64 - 1)).cast(gdb.lookup_type(name).pointer())


def container(pointer, name, member):
    at = next(f.bitpos for f in gdb.lookup_type(name).fields() if f.name == member)
    return cast(int(pointer) - at // 8, name)


def run_queue(cpu):
    return cast(int(value("&runqueues")) + int(value(f"sc_offset_of_cpu[{cpu}]")), "struct rq").dereference()


def cpus():
    return int(value("sc_machine->cpus"))


def checked_cpu(text):
    words = gdb.string_to_argv(text)
    if len(words) != 1 or not words[0].isdigit() or int(words[0]) >= cpus():
        raise gdb.GdbError(f"found {text or 'nothing'}, expected a CPU below {cpus()}")
    return int(words[0])


def ms(ns):
    return f"{ns / 1e6:.6f} ms"


def now():
    """Simulated time of the run, as timelines have it."""
    return int(value("sc_now_ns")) - int(value("sc_debug.run_ns"))


def named(task):
    return f"{task['comm'].string(errors='replace')}/{int(task['pid'])}"


def signed(number):
    """A vruntime may be below 0."""
    number = int(number)
    return number - 2**64 if number >> 63 else number


def words_of(start, length):
    return sum(int(start[i]) << (64 * i) for i in range(length))


def listed(mask):
    """A mask as the kernel writes it: 0-3,8."""
    runs, cpu = [], 0
    while mask >> cpu:
        if mask >> cpu & 1:
            first = cpu
            while mask >> (cpu + 1) & 1:
                cpu += 1
            runs.append(f"{first}-{cpu}" if cpu > first else f"{first}")
        cpu += 1
    return ",".join(runs)


def mask_behind(pointer, name, member):
    """CPUs of an array without a length at the end of a structure."""
    at = next(f.bitpos for f in gdb.lookup_type(name).fields() if f.name == member)
    start = cast(int(pointer) + at // 8, "unsigned long")
    return words_of(start, (cpus() + 63) // 64)


def entities(node):
    """Entities of a red-black tree, leftmost first."""
    if int(node) == 0:
        return
    yield from entities(node["rb_left"])
    yield container(node, "struct sched_entity", "run_node").dereference()
    yield from entities(node["rb_right"])


def entity_line(entity, mark, depth):
    group = field(entity, "my_q")
    if group is not None and int(group):
        name = "group"
    else:
        name = named(container(int(entity.address), "struct task_struct", "se").dereference())
    line = f"{'  ' * depth} {mark} {name:<24} vruntime {signed(entity['vruntime'])}"
    deadline = field(entity, "deadline")
    if deadline is not None:
        line += f"  deadline {signed(deadline)}"
    return line + f"  weight {int(entity['load']['weight']) >> 10}", group


def show_queue(cfs, depth):
    current = cfs["curr"]
    shown = [(current.dereference(), ">")] if int(current) else []
    shown += [(entity, " ") for entity in entities(cfs["tasks_timeline"]["rb_root"]["rb_node"])]
    for entity, mark in shown:
        line, group = entity_line(entity, mark, depth)
        print(line)
        if group is not None and int(group):
            show_queue(group.dereference(), depth + 1)


class Queue(gdb.Command):
    """sc-rq CPU: the run queue of a CPU: its task, and what the fair class has queued."""

    def __init__(self):
        super().__init__("sc-rq", gdb.COMMAND_DATA)

    def invoke(self, text, from_tty):
        cpu = checked_cpu(text)
        rq, cfs = run_queue(cpu), run_queue(cpu)["cfs"]
        waits = str(value(f"sc_contexts[{cpu}].waits")).replace("SC_", "").lower()
        print(f"CPU {cpu} at {ms(now())}: curr {named(rq['curr'].dereference())} ({waits}), nr_running {int(rq['nr_running'])}")
        in_fair = int(field(cfs, "h_nr_runnable", "h_nr_running", "h_nr_queued"))
        print(f"  fair {in_fair}, rt {int(rq['rt']['rt_nr_running'])}, deadline {int(rq['dl']['dl_nr_running'])}, clock {int(rq['clock'])}")
        for name in ("min_vruntime", "zero_vruntime"):
            at = field(cfs, name)
            if at is not None:
                print(f"  {name} {signed(at)}")
        print(f"  util_avg {int(cfs['avg']['util_avg'])}, load_avg {int(cfs['avg']['load_avg'])}")
        show_queue(cfs, 1)


def flags_of(domain):
    flags, names = int(domain["flags"]), []
    for name in FLAGS:
        try:
            bit = int(value(f"SD_{name}"))
        except gdb.error:
            continue
        if flags & bit:
            names.append(name)
    return " ".join(names)


class Domains(gdb.Command):
    """sc-domains CPU: the sched domains of a CPU with their groups, the lowest first."""

    def __init__(self):
        super().__init__("sc-domains", gdb.COMMAND_DATA)

    def invoke(self, text, from_tty):
        cpu = checked_cpu(text)
        domain, level = run_queue(cpu)["sd"], 0
        if not int(domain):
            print(f"CPU {cpu} has no domains")
        while int(domain):
            span = mask_behind(domain, "struct sched_domain", "span")
            name = field(domain, "name")
            name = name.string() if name is not None else ""
            print(f"domain-{level}: span={listed(span)} level={name}")
            print(f"  flags: {flags_of(domain)}")
            intervals = ("balance_interval", "busy_factor", "imbalance_pct", "nr_balance_failed")
            print("  " + ", ".join(f"{i} {int(domain[i])}" for i in intervals))
            first = group = domain["groups"]
            while True:
                members = mask_behind(group, "struct sched_group", "cpumask")
                print(f"  group {listed(members)}: capacity {int(group['sgc']['capacity'])}")
                group = group["next"]
                if int(group) == int(first):
                    break
            domain, level = domain["parent"], level + 1


def all_tasks():
    symbol = gdb.lookup_global_symbol("sc_task")
    block = symbol.symtab.static_block()
    own = {s.name: s for s in block if s.name in ("tasks", "last_pid")}
    table, last = own["tasks"].value(), int(own["last_pid"].value())
    for pid in range(1, last + 1):
        if int(table[pid]):
            yield table[pid].dereference()


class Tasks(gdb.Command):
    """sc-tasks: all tasks, with their state and CPU. * runs, + is queued."""

    def __init__(self):
        super().__init__("sc-tasks", gdb.COMMAND_DATA)

    def invoke(self, text, from_tty):
        print("    pid name              state cpu  nice  runtime_ns")
        for task in all_tasks():
            state = int(field(task, "__state", "state"))
            mark = "*" if int(task["on_cpu"]) else "+" if int(task["on_rq"]) else " "
            cpu = field(task, "wake_cpu") if not int(task["on_rq"]) else None
            cpu = int(cpu) if cpu is not None else int(task["thread_info"]["cpu"])
            name = task["comm"].string(errors="replace")
            print(
                f"{mark} {int(task['pid']):5} {name:<18}{STATES.get(state, hex(state)):<6}{cpu:<5}"
                f"{int(task['static_prio']) - 120:<6}{int(task['se']['sum_exec_runtime'])}"
            )


class Time(gdb.Command):
    """sc-time: the simulated time of the run, and the kernel's own."""

    def __init__(self):
        super().__init__("sc-time", gdb.COMMAND_DATA)

    def invoke(self, text, from_tty):
        print(f"{ms(now())} of the run; the machine's clock {int(value('sc_now_ns'))} ns")


class Until(gdb.Command):
    """sc-until MS: goes on to the first turn of a CPU at or after this simulated time, as 12.5 or 12.5ms."""

    def __init__(self):
        super().__init__("sc-until", gdb.COMMAND_RUNNING)

    def invoke(self, text, from_tty):
        digits = text.strip().removesuffix("ms").strip()
        try:
            at_ns = round(float(digits) * 1e6)
        except ValueError:
            raise gdb.GdbError(f"found {text or 'nothing'}, expected milliseconds, as 12.5") from None
        if at_ns < now():
            raise gdb.GdbError(f"found {ms(at_ns)}, expected a time after {ms(now())}")
        gdb.execute(f"set var sc_debug.stop_ns = {at_ns} + sc_debug.run_ns")
        gdb.execute("continue")


SAVED = {
    "i386:x86-64": (["r15", "r14", "r13", "r12", "rbx", "rbp", "pc"], "rsp", 7),
    "aarch64": (["x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "pc"], "sp", 12),
}
PLACES = {"aarch64": [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0, 1]}


class Stack(gdb.Command):
    """sc-bt PID: the kernel stack of a task that does not execute now."""

    def __init__(self):
        super().__init__("sc-bt", gdb.COMMAND_STACK)

    def invoke(self, text, from_tty):
        task = next((t for t in all_tasks() if str(int(t["pid"])) == text.strip()), None)
        if task is None:
            raise gdb.GdbError(f"found {text or 'nothing'}, expected a pid that sc-tasks shows")
        machine = gdb.newest_frame().architecture().name()
        names, stack, length = SAVED[machine]
        at = cast(int(task["thread"]["sp"]), "unsigned long")
        places = PLACES.get(machine, range(len(names)))
        selected = gdb.selected_frame().level()
        gdb.newest_frame().select()
        before = {name: int(value(f"(unsigned long)${name}")) for name in names + [stack]}
        try:
            set_registers({**{n: int(at[p]) for n, p in zip(names, places)}, stack: int(at) + 8 * length})
            gdb.execute("backtrace")
        finally:
            set_registers(before)
            gdb.execute(f"frame {selected}", to_string=True)


def set_registers(values):
    for name, number in values.items():
        gdb.execute(f"set var ${name} = {number}", to_string=True)


def names_of(enum):
    """Names of an enum of the library's interface by their values, as `timer` for SC_IRQ_TIMER."""
    fields = gdb.lookup_type(f"enum {enum}").fields()
    return {f.enumval: f.name.split("_", 2)[2].lower() for f in fields}


def told(turn):
    """What a turn is about to do."""
    cpu = int(turn["cpu"])
    irqs = [name for bit, name in names_of("sc_interrupt").items() if int(turn["irqs"]) & bit]
    said = f"stopped at {ms(now())}: a turn of CPU {cpu}, {named(run_queue(cpu)['curr'].dereference())}"
    if irqs:
        said += f", interrupted by {' and '.join(irqs)}"
    if int(turn["call"]):
        said += f", system call {names_of('sc_call_kind')[int(turn['call']['kind'])]}"
    return said


class Reached(gdb.Breakpoint):
    """Where the library comes when it is time."""

    def __init__(self):
        super().__init__("sc_reached", internal=True)
        self.silent = True

    def stop(self):
        return True


def on_stop(event):
    frame = gdb.newest_frame()
    if frame.name() == "sc_reached":
        print(told(frame.read_var("turn")))
        frame.older().select()


for command in (Queue, Domains, Tasks, Time, Until, Stack):
    command()
gdb.execute("set breakpoint pending on")
gdb.execute("set print thread-events off")
gdb.execute("set pagination off")
Reached()
gdb.events.stop.connect(on_stop)
gdb.execute("run")
