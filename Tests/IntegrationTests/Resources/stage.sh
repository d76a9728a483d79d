# Sourced by the programs that hold both of ours against the world: a temporary folder, the simulator, the daemon.
# Everything is on free ports and ends with the shell; nothing is left behind.
#   Before: `set -euo pipefail`, and `bin`, the folder of the two programs.

work=$(mktemp -d)
pids=()
# The most seconds that anything is waited for: only to end a hang, so that no busy machine comes near it.
limit=600
export WAIT_SECONDS=$limit

# shellcheck disable=SC2317 # called by the trap
finish() {
    local pid
    for pid in "${pids[@]}"; do kill -TERM "$pid" 2>/dev/null || true; done
    for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

fail() {
    local log
    echo "${0##*/}: $*" >&2
    for log in "$work"/*.log; do [ -f "$log" ] && { echo "--- $log"; tail -n 40 "$log"; }; done >&2
    exit 1
}

# One string member of a JSON object on standard input.
member() { sed -n "s/.*\"$1\" *: *\"\([^\"]*\)\".*/\1/p" | head -n 1; }

# Waits until a command succeeds, or for the death of the program that it waits for: PID COMMAND...
await() {
    local pid=$1 end=$((SECONDS + limit))
    shift
    while [ "$SECONDS" -lt "$end" ]; do
        "$@" && return 0
        kill -0 "$pid" 2>/dev/null || fail "a program ended early"
        sleep 0.1
    done
    fail "waited in vain for: $*"
}

# Starts the simulator; then `production`, `sandbox` and `control` are its addresses and $work/simulator.json says all.
start_simulator() {
    "$bin/appstore-simulator" --seed 7 --state "$work/simulator" --ready-file "$work/simulator.json" \
        >"$work/simulator.log" 2>&1 &
    pids+=($!)
    await $! test -s "$work/simulator.json"
    local ready
    ready=$(tr -d '\n' <"$work/simulator.json" | sed 's#\\/#/#g')
    production=$(member production <<<"$ready")
    sandbox=$(member sandbox <<<"$ready")
    control=$(member control <<<"$ready")
}

# A call of the simulator's control port: METHOD PATH [BODY]
simulate() { curl --fail-with-body --silent --show-error --max-time "$limit" -X "$1" "$control$2" ${3:+--data "$3"}; }

# Makes a key of a team and registers it with the simulator: ISSUER. Afterwards `key` is its id, $work/key.p8 the key.
make_key() {
    local public
    (umask 077; openssl ecparam -name prime256v1 -genkey -noout | openssl pkcs8 -topk8 -nocrypt -out "$work/key.p8")
    public=$(openssl pkey -in "$work/key.p8" -pubout | awk '{ printf "%s\\n", $0 }')
    key=$(simulate POST /keys "{\"issuerId\":\"$1\",\"publicKey\":\"$public\"}" | member keyId)
}

# Makes a caller's token: afterwards $work/token holds it, and `digest` belongs into the configuration.
make_token() {
    local made
    made=$("$bin/purser" callers hash)
    (umask 077; grep -o 'prs_[A-Za-z0-9_-]*' <<<"$made" | head -n 1 | tr -d '\n' >"$work/token")
    digest=$(grep -o '[0-9a-f]\{64\}' <<<"$made" | head -n 1)
}

# Starts the daemon with $work/purser.yaml.
start_daemon() {
    "$bin/purser" serve --config "$work/purser.yaml" >"$work/purser.log" 2>&1 &
    pids+=($!)
    await $! grep -qs '"message":"Ready' "$work/purser.log"
}

# Where a listener of the daemon listens: NAME. Port 0 means any free port; the log says which.
listening() { sed -n "/\"listener\":\"$1\"/s/.*\"address\":\"\([^\"]*\)\".*/\1/p" "$work/purser.log" | head -n 1; }
