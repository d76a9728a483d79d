# Sourced by what is run where systemd is process 1: how something is held to a sentence, and waited for.
#   Before: `chosen`, a regular expression of the sentences to hold it to.

declare -A count=([ok]=0 [FAILED]=0 [skipped]=0)
# Runs a check, unless it cannot be: SENTENCE FUNCTION [ARGUMENTS...]. It says what it found by `note`.
check() {
    local sentence=$1 outcome=ok
    [[ $sentence =~ $chosen ]] || return 0
    shift
    note='' skipped='' since=$(date '+%F %T.%6N')
    # Starts are counted by systemd, too, and there are more than it allows.
    systemctl reset-failed purser 2>/dev/null || true
    "$@" || outcome=FAILED
    [ -z "$skipped" ] || outcome=skipped
    count[$outcome]=$((count[$outcome] + 1))
    printf '%-8s%s%s\n' "$outcome" "$sentence" "${note:+ ($note)}"
    [ "$outcome" != FAILED ] || journalctl --unit purser --since "$since" --no-pager --lines 15 | sed 's/^/        /'
}
# Whether something holds, else the check fails because of it: WHAT COMMAND...
must() { local what=$1; shift; "$@" || { note="not so: $what${note:+; $note}"; return 1; }; }
# Waits at most two minutes for a command to succeed.
soon() {
    local end=$((SECONDS + 120))
    until "$@"; do [ "$SECONDS" -lt "$end" ] || return 1; sleep 0.1; done
}
seconds_since() { awk -v from="$1" -v to="$(date +%s.%N)" 'BEGIN { printf "%.1f s", to - from }'; }
is() { [ "$1" = "$2" ]; }
# How many of each there were; fails if one has failed.
conclude() {
    echo "${count[ok]} ok, ${count[FAILED]} failed, ${count[skipped]} skipped"
    [ "${count[FAILED]}" = 0 ]
}
