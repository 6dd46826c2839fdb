# Each kind of setting is in effect while a command runs, and put back afterwards; what this kernel does not have is refused by name;
# commands and schedulers that fail are named.
# shellcheck shell=sh source=/dev/null
. ./common.sh
prepare

experiment 0 . settings.toml --out settings
same settings
nothing_runs settings
echo "$(grep -c '^name' settings.toml | awk '{ print $1 - 2 }') variants, each in effect while its command ran; put back: $(wc -l < "$BEFORE") lines the same"

# with SETTINGS COMMAND: an experiment with a variant that has SETTINGS, and one workload.
with() {
    cat > one.toml << EXPERIMENT
name = "one"
machine = "host"
variant = [{ name = "base"${BASE-} }, { name = "other", $1 }]
[[workload]]
name = "command"
runs = 3
[workload.command]
$2
EXPERIMENT
}

refused() {
    with "$1" 'argv = ["true"]'
    experiment 2 "$2" one.toml
    same "$1"
}

BASE=', frequency = { governor = "schedutil" }'
refused 'frequency = { governor = "performance" }' 'variant .base.: frequency.governor: found no policy'
BASE=
refused 'host = { idle_states = { C6 = false } }' 'variant .other.: host.idle_states.C6: found no idle states'
refused 'host = { boost = false }' 'variant .other.: host.boost: found neither'
refused 'host = { cpus = "1" }, smt = 1' 'variant .other.: host.cpus: found 1, expected some of 0,2'
refused 'host = { offline = "0" }' 'variant .other.: offline: found CPU 0 without'
refused 'sysctl = { "kernel.sched_rt_runtime_us" = -5 }' 'sched_rt_runtime_us: Invalid argument'
refused 'sysctl = { "kernel.nothing" = 1 }' 'variant .other.: sysctl.kernel.nothing: found no /proc/sys/kernel/nothing'
refused 'features = { NOTHING = true }' 'variant .other.: features.NOTHING: found none of that name'
echo 'governor, idle states, boost, CPUs that are not there, files, values: refused by name, nothing changed'

# A CPU that was offline before threads are switched off stays so when they come back.
echo 0 > "$CPUS/cpu3/online"
dump > "$BEFORE"
with 'smt = 1' 'argv = ["true"]'
experiment 0 . one.toml
same 'threads, one of which was offline'
echo 1 > "$CPUS/cpu3/online"
echo 3333333 > /sys/kernel/debug/sched/base_slice_ns
dump > "$BEFORE"
echo 'a thread that was offline before stays offline'

# fails COMMAND TEXT: the run fails with TEXT, and nothing is left.
fails() {
    with 'sysctl = { "kernel.sched_rt_runtime_us" = 900000 }' "$1"
    experiment 2 "workload .command., variant .*, run .: .*$2" one.toml --out failed
    same "$1"
    nothing_runs "$1"
    [ ! -e failed ] || fail "$1: a failed run is stored"
}

fails 'argv = ["sh", "-c", "sleep 1000 & exec sleep 1000"]
timeout_s = 1' 'still running after 1\.[0-9] s, and ended'
fails 'argv = ["sh", "-c", "kill -SEGV $$"]' 'signal 11'
fails 'argv = ["sh", "-c", "echo figure; echo why >&2; exit 3"]' 'exit code 3, expected 0: why'
fails 'argv = ["echo", "rubbish"]
expect = "ok"' 'found no .ok. in what it printed'
echo 'a command that hangs, crashes, fails or prints something else: said, and all is put back'

# A scheduler that lets tasks wait.
cat > stall.toml << 'EXPERIMENT'
name = "stall"
machine = "host"
variant = [{ name = "base" }, { name = "stall", scheduler = "stall.bpf.o" }]
[[workload]]
name = "busy"
runs = 2
[workload.command]
argv = ["sh", "-c", "for n in 1 2 3 4 5 6 7 8; do (i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done) & done; wait"]
EXPERIMENT
experiment 2 'variant .stall.*BPF scheduler "stall" disabled \(runnable task stall\)' stall.toml
said=$(grep -o 'BPF scheduler "stall" disabled.*' /tmp/said | head -n 1)
[ "$(wc -l < /tmp/said)" -lt 40 ] || fail "stall: $(wc -l < /tmp/said) lines, expected a few"
same stall
echo "$said: said, and the class is disabled"

# ctrl-C while a command runs.
with 'sysctl = { "kernel.sched_rt_runtime_us" = 900000 }' 'argv = ["sleep", "1000"]'
"$SCHEDSCAPE" run --engine host one.toml > /tmp/said 2>&1 &
harness=$!
until running '[s]leep 1000' > /dev/null; do sleep 0.1; done
kill -INT "$harness"
code=0
wait "$harness" || code=$?
if [ "$code" != 2 ] || ! grep -q interrupted /tmp/said; then fail "ctrl-C: exit code $code: $(cat /tmp/said)"; fi
same ctrl-C
nothing_runs ctrl-C
echo 'ctrl-C: exit code 2, and all is put back'
