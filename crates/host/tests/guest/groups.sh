# Control groups get what they are set to: three threads in a group, one in another of three times its weight, on one CPU, and a quota of
# three tenths of another CPU. Nothing is left of them.
# shellcheck shell=sh source=/dev/null
. ./common.sh
prepare
export HOME=/root
chmod 755 /root/.cache/schedscape/*/*

cat > groups.toml << 'EXPERIMENT'
name = "groups"
machine = "host"
variant = [{ name = "base" }]
group = [
    { path = "light", "cpu.weight" = 100 },
    { path = "heavy", "cpu.weight" = 300 },
    { path = "quota", "cpu.max" = "30000 100000" },
]
[[workload]]
name = "shares"
runs = 1
together = [
    { name = "light", group = "light", noisy = { kind = { cpu = { share = 1, period_ms = 10 } }, threads = 3, cpus = "0", warmup_s = 0.2, seconds = 3 } },
    { name = "heavy", group = "heavy", noisy = { kind = { cpu = { share = 1, period_ms = 10 } }, threads = 1, cpus = "0", warmup_s = 0.2, seconds = 3 } },
    { name = "quota", group = "quota", noisy = { kind = { cpu = { share = 1, period_ms = 10 } }, threads = 1, cpus = "1", warmup_s = 0.2, seconds = 3 } },
]
EXPERIMENT
experiment 0 . groups.toml --counters
same groups
nothing_runs groups
awk '/ usage_us / { used[$1] = $3 } $1 == "nr_periods" { periods = $2 } END {
    ratio = used["heavy:"] / used["light:"]; share = used["quota:"] / (periods * 1e5)
    printf "weights 3:1 share as %.2f:1, three tenths of a CPU are %.3f; no group is left\n", ratio, share
    exit !(ratio > 2.4 && ratio < 3.6 && share > 0.25 && share < 0.35)
}' /tmp/said || fail "groups do not get what they are set to: $(cat /tmp/said)"
