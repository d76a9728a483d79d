#!/bin/bash
# The example of a client in Swift, with stubs that the compiler has made of api/purser/v1, against `purser serve`: what it says
# and how it ends, by TCP, by a Unix socket and by TLS, and while the daemon goes away and comes back.
#   run-grpc-swift.sh BIN_DIRECTORY EXAMPLE
set -euo pipefail

bin=${1:?usage: run-grpc-swift.sh BIN_DIRECTORY EXAMPLE}
program=${2:?usage: run-grpc-swift.sh BIN_DIRECTORY EXAMPLE}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=grpc-stage.sh
source "$here/grpc-stage.sh"

uuid='[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}'
state='(queued|sending|accepted)'

# Runs the example, which then has said what it has to say in $work/example.log. Each line of the standard input is a line that
# it must have: NAME EXIT_CODE ARGUMENT...
example() {
    local name=$1 expected=$2 status=0 line
    shift 2
    "$program" "$@" >"$work/example.log" 2>&1 || status=$?
    [ "$status" = "$expected" ] || fail "$name: exit code $status, and not $expected"
    while read -r line; do
        grep --quiet --extended-regexp "^ *$line\$" "$work/example.log" || fail "$name: nothing says: $line"
    done
    echo "ok   $name"
}

# Whether a file has so many lines of a kind: COUNT PATTERN FILE
lines() { [ -f "$3" ] && [ "$(grep --count --extended-regexp "$2" "$3")" -ge "$1" ]; }

# Waits for the end of a program, which must be a good one: PID COMPLAINT
ended() {
    local pid left=()
    wait "$1" || fail "$2"
    for pid in "${pids[@]}"; do [ "$pid" = "$1" ] || left+=("$pid"); done
    pids=("${left[@]}")
}

stop_daemon() {
    kill -TERM "$daemon"
    ended "$daemon" "the daemon ended with a failure"
}

another=$(purchase)

# ---- calls, by TCP without TLS

serve 127.0.0.1:0
daemon=${pids[-1]}
connection=(--address "$(listening grpc)" --token-file "$work/token" --timeout "$limit")
example "health" 0 health "${connection[@]}" <<<"health: serving"
example "a call, its answer, and what became of it" 0 \
    answer coins alice "$transaction" --percentage 25000 --consent --idempotency-key first "${connection[@]}" <<LINES
link: $transaction is alice's
sent: $uuid is $state
delivery: $uuid is $state after [0-9]+ attempts
LINES
delivery=$(sed -n 's/^sent: \([^ ]*\) .*/\1/p' "$work/example.log")
example "the same key is the same delivery" 0 \
    answer coins alice "$transaction" --percentage 25000 --consent --idempotency-key first "${connection[@]}" \
    <<<"sent: $delivery is $state"
example "an event" 0 watch coins --after 0 --limit 1 "${connection[@]}" <<<"event: [^ ]+ purserDelivery(Queued|Accepted) $delivery"
example "a refusal, with every violation" 65 \
    answer coins alice "$transaction" --percentage 200000 --no-consent "${connection[@]}" <<LINES
invalidArgument: .+
reason INVALID_REQUEST
customerConsented: .+
consumptionPercentage: .+
request .+
LINES
example "a refusal, with its facts" 65 answer coins bob "$transaction" --consent "${connection[@]}" <<LINES
failedPrecondition: .+
reason LINK_CONFLICT
owner alice
LINES
printf prs_wrong >"$work/wrong"
example "a wrong credential" 77 watch coins --address "$(listening grpc)" --token-file "$work/wrong" <<LINES
unauthenticated: .+
reason UNAUTHENTICATED
LINES
example "no credential" 77 watch coins --address "$(listening grpc)" <<<"reason UNAUTHENTICATED"
stop_daemon

# ---- an end in the middle, by a Unix socket

serve "unix:$work/grpc.sock"
daemon=${pids[-1]}
connection=(--address "unix:$work/grpc.sock" --token-file "$work/token" --timeout "$limit")
"$program" watch coins --after 0 --limit 4 "${connection[@]}" >"$work/watch.log" 2>"$work/watch-failures.log" &
watch=$!
pids+=("$watch")
await "$watch" lines 2 '^event: ' "$work/watch.log"
stop_daemon
await "$watch" lines 1 '^unavailable: .* again after ' "$work/watch-failures.log"

"$program" answer coins alice "$another" --consent --idempotency-key second "${connection[@]}" >"$work/answer.log" 2>&1 &
answer=$!
pids+=("$answer")
await "$answer" lines 1 '^unavailable: .* again after ' "$work/answer.log"
echo "ok   a call and a stream wait for the daemon"

serve "unix:$work/grpc.sock"
daemon=${pids[-1]}
ended "$answer" "the call was not made again"
lines 1 "^delivery: $uuid is $state after" "$work/answer.log" || fail "the call made again has no answer"
echo "ok   a call is made again"
ended "$watch" "the stream was not taken up again"
"$bin/purser" call ListEvents '{"app": "coins", "after": "0"}' --address "unix:$work/grpc.sock" --token-file "$work/token" \
    | grep -o '"id" *: *"[^"]*"' | sed 's/.*"\([^"]*\)"$/\1/' >"$work/events"
sed -n 's/^event: \([^ ]*\) .*/\1/p' "$work/watch.log" | diff - "$work/events" >"$work/difference.log" \
    || fail "events were missed, or came twice"
echo "ok   a stream is taken up again: no event is missed, and none comes twice"
stop_daemon
example "nobody is there" 75 health --address "unix:$work/grpc.sock" --timeout 1 </dev/null

# ---- TLS

serve 127.0.0.1:0 ", tls: { certificateChain: $work/server.pem, privateKey: $work/server.key }"
address=localhost:$(listening grpc | sed 's/.*://')
connection=(--address "$address" --token-file "$work/token" --timeout "$limit" --ca "$work/server.pem")
example "TLS" 0 watch coins --after 0 --limit 4 "${connection[@]}" <<<"event: [^ ]+ purserDelivery(Queued|Accepted) $delivery"
example "an authority that vouches for another" 75 health --address "$address" --ca "$work/clients.pem" --timeout 1 </dev/null
example "no TLS where there is to be" 75 health --address "$address" --timeout 1 </dev/null
example "a token by no other way" 64 health --address example.com:8082 --token-file "$work/token" </dev/null
