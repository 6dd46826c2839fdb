# A harness that is killed with SIGKILL: another run is refused, and `host restore` puts everything back.
# shellcheck shell=sh source=/dev/null
. ./common.sh
prepare
JOURNAL=/var/lib/schedscape/host.journal
KILLS=10

begin() {
    "$SCHEDSCAPE" run settings.toml --engine host --trial 0 --rest-s 0 --runs 100 --seed "$1" > /tmp/run 2>&1 &
    harness=$!
    until [ -e "$JOURNAL" ]; do
        [ -e "/proc/$harness/exe" ] || fail "no run: $(cat /tmp/run)"
        usleep 20000
    done
}

commands=0
for at in $(seq "$KILLS"); do
    begin "$at"
    # Over more than a block, which has all variants in a drawn order.
    sleep "$((at * 7 / 10)).$((at * 7 % 10))"
    kill -KILL "$harness"
    wait "$harness" 2> /dev/null
    [ -s "$JOURNAL" ] || fail "kill $at: nothing is journaled: $(cat /tmp/run)"
    ! grep -q '"end"' "$JOURNAL" || commands=$((commands + 1))
    host 2 'schedscape host restore' run settings.toml --engine host
    host 0 '^Put back [0-9]+ change' host restore
    same "kill $at"
    nothing_runs "kill $at"
    host 0 '^Nothing to put back' host restore
done
echo "$KILLS runs killed, $commands while a command or a program ran: another run refused, all put back, nothing runs"
