# shellcheck shell=sh
# What the scripts in a guest share. They run in busybox's shell.
# The program itself: its name is a function of this shell.
export SCHEDSCAPE=/programs/bin/schedscape
CPUS=/sys/devices/system/cpu
# Where the first script keeps what the kernel said before anything ran.
BEFORE=/tmp/before

fail() {
    echo "$*" >&2
    exit 1
}

# What a computer with systemd has, and a tunable that is not what the kernel would choose.
prepare() {
    mount -t cgroup2 none /sys/fs/cgroup
    mount -t bpf bpf /sys/fs/bpf
    echo '+cpu +cpuset' > /sys/fs/cgroup/cgroup.subtree_control
    echo 3333333 > /sys/kernel/debug/sched/base_slice_ns
    dump > "$BEFORE"
}

# dump: all that can be set, a line each. Left out is what changes by itself.
dump() {
    find /sys/kernel/debug/sched /proc/sys/kernel /proc/sys/vm -type f ! -path '*/random/*' |
        grep -vE '/sched/debug$|newidle|/ns_last_pid$|/pty/nr$|/vm/(compact_memory|stat_refresh)$' | sort | xargs grep -H '' 2> /dev/null
    grep -H '' "$CPUS/online" "$CPUS/smt/control" /sys/kernel/mm/transparent_hugepage/enabled /sys/kernel/mm/ksm/run \
        /sys/kernel/sched_ext/state /sys/fs/cgroup/cgroup.subtree_control
    find /sys/fs/cgroup /sys/fs/bpf -type d | sort
}

# same WHEN: the dump is what it was.
same() {
    dump > /tmp/after
    diff "$BEFORE" /tmp/after > /tmp/differs || fail "$1: not put back: $(cat /tmp/differs)"
}

# running PATTERN: processes whose command lines match it.
running() {
    # shellcheck disable=SC2009 # The guest has no pgrep.
    ps -o args | grep -E "$1"
}

# nothing_runs WHEN: no process of a command or a scheduler is left.
nothing_runs() {
    ! running '[c]heck\.sh|[h]old\.sh|[s]leep 1000' > /tmp/left || fail "$1: a process is left: $(cat /tmp/left)"
}

# host CODE TEXT ARGUMENT...: schedscape ends with CODE and says TEXT, a regular expression.
host() {
    expected=$1 text=$2
    shift 2
    code=0
    schedscape "$@" > /tmp/said 2>&1 || code=$?
    [ "$code" = "$expected" ] || fail "schedscape $*: exit code $code, expected $expected: $(cat /tmp/said)"
    grep -qE "$text" /tmp/said || fail "schedscape $*: expected $text: $(cat /tmp/said)"
}

# experiment CODE TEXT FILE ARGUMENT...: the same of a run without trial and rest.
experiment() {
    expected=$1 text=$2
    shift 2
    host "$expected" "$text" run --engine host --trial 0 --rest-s 0 "$@"
}
