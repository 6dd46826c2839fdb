#!/bin/sh
# What the variant WANT says is in effect while this runs; it fails if not.
# shellcheck source=/dev/null
. /root/common.sh

is() {
    [ "$2" = "$3" ] || fail "$WANT: $1: found '$2', expected '$3'"
}

# reads FILE VALUE
reads() {
    is "$1" "$(cat "$1")" "$2"
}

# has FILE WORD
has() {
    grep -qwF -e "$2" "$1" || fail "$WANT: $1: found '$(cat "$1")', expected '$2'"
}

# own FIELD VALUE: a field of /proc/PID/stat, as proc(5) counts them.
own() {
    is "field $1 of stat" "$(sed 's/.*) //' "/proc/$$/stat" | cut -d ' ' -f "$(($1 - 2))")" "$2"
}

allowed() {
    is 'CPUs allowed' "$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' "/proc/$$/status")" "$1"
}

reads /sys/kernel/sched_ext/state "$(case $WANT in object | program) echo enabled ;; *) echo disabled ;; esac)"
case $WANT in
    base)
        dump | grep -v sched_schedstats > /tmp/now
        grep -v sched_schedstats "$BEFORE" | diff - /tmp/now || fail 'the baseline finds other settings than there were before'
        own 19 0
        ;;
    feature) has /sys/kernel/debug/sched/features NO_WA_WEIGHT ;;
    slice) reads /sys/kernel/debug/sched/base_slice_ns 5000000 ;;
    sysctl) reads /proc/sys/kernel/sched_rt_runtime_us 900000 ;;
    threads)
        reads "$CPUS/smt/active" 0
        reads "$CPUS/online" 0,2
        ;;
    offline) reads "$CPUS/online" 0-2 ;;
    group)
        reads "/proc/$$/cgroup" 0::/web/db
        reads /sys/fs/cgroup/web/db/cpu.weight 50
        reads /sys/fs/cgroup/web/cpu.max '50000 100000'
        allowed 0-1
        ;;
    cpus) allowed 1-2 ;;
    nice) own 19 -5 ;;
    batch)
        own 41 3
        own 19 7
        ;;
    fifo)
        own 41 1
        own 40 7
        ;;
    pages) has /sys/kernel/mm/transparent_hugepage/enabled '[never]' ;;
    numa) reads /proc/sys/kernel/numa_balancing 1 ;;
    files)
        reads /sys/kernel/mm/ksm/run 1
        reads /proc/sys/vm/swappiness 10
        ;;
    object | program) reads /sys/kernel/sched_ext/root/ops plain ;;
    several)
        reads "$CPUS/online" 0,2
        reads /sys/kernel/debug/sched/base_slice_ns 7000000
        has /sys/kernel/debug/sched/features NO_WA_WEIGHT
        reads "/proc/$$/cgroup" 0::/web
        allowed 2
        own 40 7
        ;;
    *) fail "unknown: $WANT" ;;
esac
echo 'checks: 1'
