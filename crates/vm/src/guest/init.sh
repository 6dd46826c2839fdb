#!/bin/sh
# Init of a guest. It mounts what programs need, does what /job says, and turns the machine off. Files go to the host
# over the console: a line that names them, base64, a line with size and checksum.
/bin/busybox --install -s /bin
export PATH=/bin:/sbin:/usr/bin:/usr/sbin HOME=/tmp LC_ALL=C
mkdir -p /proc /sys /dev /tmp /run
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev 2>/dev/null
mount -t tmpfs tmpfs /tmp
mount -t debugfs debugfs /sys/kernel/debug
# Kernel messages would tear the lines apart.
dmesg -n 1

note() {
    echo "@@note $*"
}

# send NAME FILE
send() {
    echo "@@file $1"
    base64 "$2"
    set -- "$1" "$(wc -c < "$2")" "$(sha256sum < "$2")"
    echo "@@end $1 $2 ${3%% *}"
}

# Messages since the last call, of sched_verbose only, without their times.
attach_log() {
    dmesg -c | sed -n 's/^\[ *[0-9.]*\] //; /^CPU[0-9]* attaching \|^ *domain-[0-9]*: \|^ *groups: \|^root domain span: /p'
}

# copy FROM TO: kernel files, whose sizes are not what they hold; some may not be read.
copy() {
    mkdir -p "${2%/*}"
    cp -a "$1" "$2" 2>/dev/null
}

# capture STEP: what the kernel says of the machine and its domains now.
capture() {
    to=/tmp/capture/$1
    mkdir -p "$to/debug" "$to/proc"
    attach_log > "$to/attach.log"
    for file in base_slice_ns domains features migration_cost_ns nr_migrate preempt tunable_scaling; do
        [ -e "/sys/kernel/debug/sched/$file" ] && copy "/sys/kernel/debug/sched/$file" "$to/debug/$file"
    done
    [ -e /sys/kernel/debug/sched_features ] && copy /sys/kernel/debug/sched_features "$to/debug/features"
    cat /proc/cpuinfo > "$to/proc/cpuinfo"
    cat /proc/schedstat > "$to/proc/schedstat" 2>/dev/null
    cat /proc/cmdline > "$to/cmdline"
    uname -a > "$to/uname"
    for dir in cpu node; do
        from=/sys/devices/system/$dir
        [ -d "$from" ] || continue
        for file in online possible present offline has_cpu; do
            [ -f "$from/$file" ] && copy "$from/$file" "$to$from/$file"
        done
    done
    for cpu in /sys/devices/system/cpu/cpu[0-9]*; do
        for file in topology cache online physical_id regs cpu_capacity; do
            [ -e "$cpu/$file" ] && copy "$cpu/$file" "$to$cpu/$file"
        done
        for node in "$cpu"/node[0-9]*; do
            [ -e "$node" ] && mkdir -p "$to$cpu" && cp -d "$node" "$to$cpu/"
        done
    done
    for node in /sys/devices/system/node/node[0-9]*; do
        for file in cpulist cpumap distance; do
            [ -e "$node/$file" ] && copy "$node/$file" "$to$node/$file"
        done
    done
    if [ ! -d /tmp/capture/fw ]; then
        [ -e /sys/firmware/fdt ] && copy /sys/firmware/fdt /tmp/capture/fw/fdt
        for table in PPTT SRAT SLIT APIC; do
            [ -e "/sys/firmware/acpi/tables/$table" ] && copy "/sys/firmware/acpi/tables/$table" "/tmp/capture/fw/acpi/$table"
        done
    fi
    note "captured $1"
}

# switch 0|1 CPU...: takes CPUs offline or brings them back. Domains are rebuilt for each: the log of the last counts.
switch() {
    value=$1
    shift
    for cpu in "$@"; do
        dmesg -c > /dev/null
        echo "$value" > "/sys/devices/system/cpu/cpu$cpu/online" || {
            note "cpu$cpu cannot be switched"
            return 1
        }
    done
}

# messages N: two tasks that send each other N lines over pipes.
messages() {
    mkfifo /tmp/to /tmp/back
    (
        n=0
        while [ "$n" -lt "$1" ] && read -r line; do
            echo "$line"
            n=$((n + 1))
        done < /tmp/to > /tmp/back
    ) &
    exec 3> /tmp/to 4< /tmp/back
    n=0
    while [ "$n" -lt "$1" ]; do
        echo ping >&3
        read -r _ <&4
        n=$((n + 1))
    done
    exec 3>&- 4<&-
    wait
    rm /tmp/to /tmp/back
}

TRACING=/sys/kernel/tracing
# Room for records on all CPUs, and on one, in KiB.
TRACED_KIB=131072
TRACED_KIB_CPU=8192

# probe EVENT: adds it.
probe() {
    echo "$1" >> "$TRACING/kprobe_events"
} 2>/dev/null

# probe_places: what select_task_rq_fair is asked and answers, which no tracepoint tells. Kernels that know types (BTF) also tell how
# often the task changed whom it wakes, and the CPU that it used before the last one.
probe_places() {
    [ ! -d "$TRACING/events/schedscape" ] || return 0
    asked='p:schedscape/place_asked select_task_rq_fair previous=$arg2:s32 flags=$arg3:x32'
    probe "$asked flips=p->wakee_flips:u32 recent=p->recent_used_cpu:s32" || probe "$asked" || note "no probes of placement"
    probe 'r:schedscape/place_answered select_task_rq_fair cpu=$retval:s32'
}

# trace_on: records what timelines show from now on, and where woken tasks go.
trace_on() {
    [ -e "$TRACING/tracing_on" ] || mount -t tracefs tracefs "$TRACING"
    probe_places
    echo 0 > "$TRACING/tracing_on"
    kib=$((TRACED_KIB / $(nproc)))
    [ "$kib" -lt "$TRACED_KIB_CPU" ] || kib=$TRACED_KIB_CPU
    echo "$kib" > "$TRACING/buffer_size_kb"
    # Names of tasks that the kernel remembers.
    echo 4096 > "$TRACING/saved_cmdlines_size"
    for event in sched/sched_waking sched/sched_wakeup sched/sched_wakeup_new sched/sched_switch \
        sched/sched_migrate_task power/cpu_frequency power/cpu_idle schedscape/place_asked schedscape/place_answered; do
        [ ! -e "$TRACING/events/$event/enable" ] || echo 1 > "$TRACING/events/$event/enable"
    done
    echo > "$TRACING/trace"
    echo 1 > "$TRACING/tracing_on"
}

# trace_off FILE: what was recorded, as ftrace's text.
trace_off() {
    echo 0 > "$TRACING/tracing_on"
    cat "$TRACING/trace" > "$1"
}

# The scheduler's tracepoints under a load of messages.
trace_messages() {
    trace_on
    messages 200
    trace_off /tmp/capture/trace.txt
    note "traced $(grep -c -v '^#' /tmp/capture/trace.txt) events"
}

# affinity: the CPUs that each task may use, as FILE:FIELD:CPUS.
affinity() {
    grep -H '^Cpus_allowed_list' /proc/[0-9]*/status 2>/dev/null
    true
}

SCHED=/sys/kernel/debug/sched

# feature NAME...: switches the scheduler's features, NO_NAME off.
feature() {
    file=$SCHED/features
    [ -e "$file" ] || file=/sys/kernel/debug/sched_features
    for name in "$@"; do
        echo "$name" > "$file" || return 1
    done
}

CGROUPS=/sys/fs/cgroup

# groups_on PATH CONTROLLER...: control groups below PATH have these controllers; the root's where it is empty.
groups_on() {
    [ -e "$CGROUPS/cgroup.procs" ] || mount -t cgroup2 cgroup2 "$CGROUPS" || return 1
    path=$1
    shift
    for controller in "$@"; do
        echo "+$controller" > "$CGROUPS/$path/cgroup.subtree_control" || {
            echo "groups: found no controller $controller, expected it"
            return 1
        }
    done
}

# group_write PATH FILE TEXT
group_write() {
    echo "$3" > "$CGROUPS/$1/$2" || {
        echo "groups.$1.$2: found \`$3\`, which the kernel refuses"
        return 1
    }
}

# group_stats PATH...: the numbers of each group, a line for each: name, value, path.
group_stats() {
    for path in "$@"; do
        while read -r name value; do
            echo "$name $value $path"
        done < "$CGROUPS/$path/cpu.stat"
    done
}

# group_remove PATH: ends its tasks, and takes it away when they are gone.
group_remove() {
    while read -r pid; do
        kill -KILL "$pid"
    done < "$CGROUPS/$1/cgroup.procs"
    tries=0
    until rmdir "$CGROUPS/$1" 2>/dev/null; do
        tries=$((tries + 1))
        [ "$tries" -lt 50 ] || return 1
        sleep 0.1
    done
}

# log_since FILE: the kernel's messages since the last call, if one of them may be about something that went wrong.
log_since() {
    dmesg -c > /tmp/log
    grep -qE 'WARNING: |BUG: |INFO: |UBSAN: |kernel BUG at |Oops: ' /tmp/log && cp /tmp/log "$1"
}

# run N: one run of a program, with what the scheduler counted meanwhile. /runs/N holds four scripts, `scheduler` where it has one of
# its own, `traced` where a timeline is wanted, and `counted` where lines are counted.
run() {
    here=/runs/$1
    out=/tmp/run
    rm -rf "$out"
    mkdir "$out"
    note "run $1"
    log_since "$out/log.before"
    # shellcheck source=/dev/null
    if (. "$here/before") > "$out/before" 2>&1; then
        [ ! -e "$here/scheduler" ] || scheduler_begin
        cat /proc/schedstat > "$out/schedstat.before"
        grep ctxt /proc/stat > "$out/stat.before"
        grep '^numa_' /proc/vmstat > "$out/vmstat.before"
        # shellcheck source=/dev/null
        (. "$here/beside") > "$out/beside" 2>&1 &
        beside=$!
        [ ! -e "$here/traced" ] || { affinity > "$out/affinity" && trace_on; }
        [ ! -e "$here/counted" ] || /bin/worker mark at=start
        sh "$here/command" > "$out/out" 2> "$out/err"
        echo "$?" > "$out/status"
        [ ! -e "$here/counted" ] || /bin/worker mark at=end
        [ ! -e "$here/traced" ] || echo 0 > "$TRACING/tracing_on"
        kill "$beside" 2>/dev/null
        wait "$beside"
        cat /proc/schedstat > "$out/schedstat.after"
        grep ctxt /proc/stat > "$out/stat.after"
        grep '^numa_' /proc/vmstat > "$out/vmstat.after"
        [ ! -e "$here/scheduler" ] || scheduler_end
        if [ -e "$here/traced" ]; then
            gzip -c < "$TRACING/trace" > "$out/trace.txt.gz"
            affinity >> "$out/affinity"
        fi
    fi
    # shellcheck source=/dev/null
    (. "$here/after") > "$out/after" 2>&1 || note "run $1 left something behind"
    log_since "$out/log"
    tar -C "$out" -czf /tmp/run.tar.gz .
    send "run-$1.tar.gz" /tmp/run.tar.gz
}

# printed MARK: hands on what it reads, line by line. A dot keeps white space at the end of a line.
printed() {
    while IFS= read -r line || [ -n "$line" ]; do
        echo "@@$1 $line."
    done
}

# session ID: processes of the session.
session() {
    sed -n "s/^\([0-9]*\) .*) [A-Z] [0-9]* [0-9]* $1 .*/\1/p" /proc/[0-9]*/stat 2>/dev/null
}

# script: runs the user's, and sends its exit code. What it left in the background ends with it.
script() {
    mkfifo /run/out /run/err
    printed out < /run/out &
    readers=$!
    printed err < /run/err &
    readers="$readers $!"
    cd /root || return 1
    setsid sh /start > /run/out 2> /run/err < /dev/null &
    leader=$!
    wait "$leader"
    echo "$?" > /run/status
    for process in $(session "$leader"); do
        kill -KILL "$process" 2>/dev/null
    done
    # shellcheck disable=SC2086 # Several.
    wait $readers
    send status /run/status
}

# Everything captured, as one archive.
send_captures() {
    tar -C /tmp/capture -czf /tmp/capture.tar.gz .
    send capture.tar.gz /tmp/capture.tar.gz
}

note "booted $(uname -r)"
# shellcheck source=/dev/null
. /job
echo "@@done"
poweroff -f
