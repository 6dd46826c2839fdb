# A command that does 2 % more is found to be worse.
# shellcheck shell=sh source=/dev/null
cat > slower.toml << 'EXPERIMENT'
name = "slower"
machine = "host"
variant = [{ name = "base", host = { env = { ROUNDS = "10000" } } }, { name = "slower", host = { env = { ROUNDS = "10200" } } }]
[[workload]]
name = "loop"
runs = 5
[workload.command]
argv = ["sh", "-c", "i=0; while [ $i -lt $ROUNDS ]; do i=$((i + 1)); done"]
EXPERIMENT
run() {
    schedscape run slower.toml --engine host --rest-s 0 "$@" > /tmp/out 2> /tmp/err && return 0
    cat /tmp/out /tmp/err >&2
    exit 1
}
# Until what a boot begins is done; a guest that counts instructions skips the time in which all CPUs are idle.
sleep 30
run --trial 5
trial=$(sed -n 's/^trial: //p' /tmp/err)
runs=$(echo "$trial" | sed -n 's/.*[ ,]2 % takes \([0-9]*\) runs.*/\1/p')
# Where the planned runs show it, nothing is said of it.
[ -z "$runs" ] || run --runs "$runs" --trial 0
echo "trial: $trial"
grep -E '^(Percent change|Verdict)' /tmp/out
