# shellcheck shell=sh disable=SC2154 # `run` of init.sh sets here and out.
# Schedulers of the class sched_ext, for the guest's init: it loads one before a run, sees that it stays, and takes it away.
# /runs/N/scheduler calls scheduler_program or scheduler_object, where a run has a scheduler.
SCX=/sys/kernel/sched_ext
# What is loaded: the process that holds it, what it prints, and the class's count of schedulers that were enabled.
LOADED=/tmp/scheduler
LINKS=/sys/fs/bpf/scheduler
STATS=/var/run/scx/root/stats
# Tenths of a second.
ENABLED_WITHIN=1200
GONE_WITHIN=100

mkdir -p /var/run
mount -t bpf bpf /sys/fs/bpf

# The process that holds the scheduler is there, and is not only waited for.
scheduler_lives() {
    [ -e "/proc/$(cat "$LOADED/pid" 2>/dev/null)/exe" ]
}

# scheduler_on: loads what the run at $here has, and waits until the kernel says that it is enabled.
scheduler_on() {
    rm -rf "$LOADED"
    mkdir "$LOADED"
    before=$(cat "$SCX/enable_seq")
    # shellcheck source=/dev/null
    . "$here/scheduler" || return 1
    tenths=0
    # The kernel counts a scheduler last.
    while [ "$(cat "$SCX/enable_seq")" = "$before" ] || [ "$(cat "$SCX/state")" != enabled ]; do
        if [ "$(cat "$SCX/enable_seq")" != "$before" ] && [ "$(cat "$SCX/state")" = disabled ]; then
            scheduler_failed "the kernel threw the scheduler out before the run"
            return 1
        fi
        if [ -e "$LOADED/pid" ] && ! scheduler_lives; then
            scheduler_failed "the scheduler ended before it was enabled"
            return 1
        fi
        if [ "$tenths" -ge "$ENABLED_WITHIN" ]; then
            scheduler_failed "the scheduler was not enabled within $((ENABLED_WITHIN / 10)) s: $(cat "$SCX/state")"
            return 1
        fi
        sleep 0.1
        tenths=$((tenths + 1))
    done
    cat "$SCX/enable_seq" > "$LOADED/seq"
    cat "$SCX/root/ops" > "$out/scheduler.ops"
}

# scheduler_program COMMAND...: a program that loads a scheduler and holds it.
scheduler_program() {
    "$@" > "$LOADED/said" 2>&1 < /dev/null &
    echo "$!" > "$LOADED/pid"
}

# scheduler_object FILE COMMAND...: a BPF object, which COMMAND, Debian's bpftool, registers.
scheduler_object() {
    object=$1
    shift
    echo "$*" > "$LOADED/bpftool"
    mkdir -p "$LINKS"
    "$@" struct_ops register "$object" "$LINKS" > "$LOADED/said" 2>&1 && return 0
    scheduler_failed "bpftool could not register the scheduler"
    return 1
}

# scheduler_failed REASON: keeps what was said.
scheduler_failed() {
    dmesg > "$out/scheduler.log"
    echo "$1"
}

# scheduler_begin: what it counted before the program runs. Its statistics are those from here to the end.
scheduler_begin() {
    cat "$SCX/root/events" > "$out/events.before" 2>/dev/null
    [ -e "$LOADED/pid" ] || return 0
    rm -f /tmp/ask
    mkfifo /tmp/ask
    /bin/worker stats "path=$STATS" < /tmp/ask > "$out/scheduler.stats" 2>/dev/null &
    asks=$!
    exec 9> /tmp/ask
    # It has begun to count when it has answered.
    tenths=0
    while [ ! -s "$out/scheduler.stats" ] && [ -e "/proc/$asks/exe" ] && [ "$tenths" -lt "$GONE_WITHIN" ]; do
        sleep 0.1
        tenths=$((tenths + 1))
    done
}

# scheduler_end: what it counted, and whether it is still the one that was loaded.
scheduler_end() {
    cat "$SCX/root/events" > "$out/events.after" 2>/dev/null
    if [ -e "$LOADED/pid" ]; then
        exec 9>&-
        wait "$asks"
    fi
    if [ "$(cat "$SCX/state")" != enabled ] || [ "$(cat "$SCX/enable_seq")" != "$(cat "$LOADED/seq")" ]; then
        dmesg > "$out/scheduler.log"
    fi
}

# gone COMMAND...: waits until COMMAND fails.
gone() {
    tenths=0
    while "$@"; do
        [ "$tenths" -lt "$GONE_WITHIN" ] || return 1
        sleep 0.1
        tenths=$((tenths + 1))
    done
}

scheduler_is_on() {
    [ "$(cat "$SCX/state")" != disabled ]
}

# scheduler_off: takes the scheduler away. What is left of one would run under the next variant.
scheduler_off() {
    [ -d "$LOADED" ] || return 0
    for signal in INT TERM KILL; do
        scheduler_lives || break
        kill "-$signal" "$(cat "$LOADED/pid")"
        gone scheduler_lives
    done
    if [ -e "$LOADED/bpftool" ]; then
        rm -rf "$LINKS"
        # One without a link stays registered until it is named.
        bpftool=$(cat "$LOADED/bpftool")
        $bpftool struct_ops list 2>/dev/null | sed -n 's/^\([0-9]*\): .* sched_ext_ops.*/\1/p' | while read -r id; do
            $bpftool struct_ops unregister id "$id" 2>/dev/null
        done
    fi
    tail -n 20 "$LOADED/said" > "$out/scheduler.said" 2>/dev/null
    rm -rf "$LOADED" /var/run/scx
    gone scheduler_is_on && return 0
    cat "$SCX/state" > "$out/scheduler.left"
    return 1
}
