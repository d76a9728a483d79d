#!/bin/bash
# What must hold under a real systemd; run by run-systemd.sh where there is one, as root.
#   checks.sh [CHECKS]
# CHECKS is a regular expression of the sentences to hold it to; all of them by default.
# Prints a line for each check (ok, FAILED or skipped, with what was found or measured) and, in the end, how many of each.
set -euo pipefail
chosen=${1:-}
pack=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=installation.sh
source "$pack/installation.sh"

# shellcheck source=checking.sh
source "$pack/checking.sh"

# ---- start

unit_is_sound() {
    note=$(systemd-analyze verify --man=no /etc/systemd/system/purser.service 2>&1) || true
    [ -z "$note" ]
}
starts() {
    local from
    from=$(date +%s.%N)
    must 'systemctl start succeeds' systemctl start purser || return
    note="$(seconds_since "$from"); $(property StatusText)"
    must 'it is active' is_active && must 'it tells what it does' grep -q '^Serving 1 app' <<<"$(property StatusText)" && must 'it works' works
}

# ---- hangs

# It comes back by systemd alone, works, and what was promised before is delivered: TEXT of the journal, COMMAND that harms it
comes_back() {
    local text=$1 before from
    shift
    must 'an answer is accepted' promise || return
    before=$(restarts)
    from=$(date +%s.%N)
    "$@" || { note='it cannot be harmed'; return 1; }
    must 'systemd starts it anew by itself' soon is_restarted "$before" || return
    let_apple_work
    must 'it works again' soon works || return
    note="works again after $(seconds_since "$from")"
    must 'what was accepted before is delivered' soon is_delivered || return
    must "the journal tells of it: $text" journal_has "$text"
}
stop_process() { kill -STOP "$(property MainPID)"; }
kill_process() { kill -KILL "$(property MainPID)"; }

# Something around it does not answer for longer than the watchdog waits, and it works on: HALT RESUME
is_unmoved() {
    local before wait
    before=$(restarts)
    wait=$(($(watchdog) + 5))
    "$1" || { note='it cannot be halted'; return 1; }
    local end=$((SECONDS + wait)) failures=0 answers=0
    while [ "$SECONDS" -lt "$end" ]; do
        if works; then answers=$((answers + 2)); else failures=$((failures + 1)); fi
        sleep 0.2
    done
    "$2"
    note="$answers requests answered in $wait s, $failures not"
    must 'everything is answered' is "$failures" 0 && must 'it is active' soon is_active \
        && must 'it was not started anew' is "$(restarts)" "$before" && must 'it works afterwards' works
}
stop_journal() {
    systemctl kill --signal STOP systemd-journald
    soon grep -q '^State:[[:space:]]*T' "/proc/$(systemctl show --property MainPID --value systemd-journald)/status"
}
resume_journal() { systemctl kill --signal CONT systemd-journald; }
has_journal() {
    is_unmoved stop_journal resume_journal \
        && must 'the journal has the requests' soon journal_has "PURSER_REQUEST_ID=$request"
}
manager=/sys/fs/cgroup/init.scope/cgroup.freeze
halt_manager() { echo 1 >$manager && soon grep -qx 'frozen 1' "${manager%/*}/cgroup.events"; }
resume_manager() { echo 0 >$manager; }

# Nobody reads what is sent to the manager, and there is no room for more. Where that lasts, it may take us for dead.
manager_is_full() {
    local before problem='' fillers=()
    before=$(restarts)
    halt_manager || { note='it cannot be halted'; return 1; }
    # Several, since what each may have on its way is bounded, too.
    for _ in 1 2 3 4 5; do yes X=1 2>/dev/null | timeout 5 logger --udp --socket /run/systemd/notify & fillers+=($!); done
    wait "${fillers[@]}" || true
    works || problem='a request is not answered'
    soon journal_has 'The service manager cannot be told' || problem=${problem:-nothing is said}
    resume_manager
    note=$problem
    must 'everything goes on meanwhile' [ -z "$problem" ] && must 'it is active' soon is_active && must 'it works afterwards' works || return
    if [ "$(restarts)" != "$before" ]; then
        note='systemd took it for dead meanwhile'
    else
        must 'it can be told again' soon journal_has 'The service manager can be told again'
    fi
}
no_freezer() { skipped=yes note="no $manager here"; }

# ---- memory

# Posts large bodies, many at once, and waits for the answers; how many of each status are noted, 100 for none at all.
# They are no JSON, so that memory is what they need, and not the processor.
post_large_bodies() {
    local sender senders=()
    [ -s "$work/large" ] || head -c 8000000 /dev/zero | tr '\0' x >"$work/large"
    for sender in $(seq 30); do
        curl --silent --max-time 60 --unix-socket /run/purser/api.sock -o /dev/null -w '%{http_code}\n' -H @"$work/authorization" \
            -H 'Content-Type: application/json' --data @"$work/large" http://localhost/v1/apps/coins/receipts >"$work/sent.$sender" 2>/dev/null &
        senders+=($!)
    done
    wait "${senders[@]}" || true
    note="answers: $(cat "$work"/sent.* | sort | uniq -c | awk '{ printf "%s%s × %s", (NR == 1 ? "" : ", "), $1, $2 }')"
}
holds_large_bodies() {
    local before
    before=$(restarts)
    post_large_bodies
    note+="; memory at most $(awk '/^VmHWM/ { printf "%d MB", $2 / 1000 }' "/proc/$(property MainPID)/status"), limit of the unit: $(property MemoryMax)"
    must 'it was not started anew' is "$(restarts)" "$before" && must 'it works afterwards' works
}
# Leaves little memory for what is not there yet: by the unit where systemd can, else by the older controller of the kernel.
limit_memory() {
    if grep -qw memory /sys/fs/cgroup/cgroup.controllers 2>/dev/null; then
        systemctl set-property --runtime purser MemorySwapMax=0 "MemoryMax=$(($(property MemoryCurrent) + 33554432))"
    else
        mkdir -p "$work/memory" && mount -t cgroup -o memory none "$work/memory" 2>/dev/null || return
        mkdir -p "$work/memory/purser-check" && echo 33554432 >"$work/memory/purser-check/memory.limit_in_bytes" \
            && property MainPID >"$work/memory/purser-check/cgroup.procs"
    fi
}
outgrow_memory() { post_large_bodies; }
survives_its_limit() {
    limit_memory || { skipped=yes note='no memory controller here: neither systemd has one, nor can the older one be mounted'; return; }
    comes_back 'status=9/KILL' outgrow_memory
    local status=$?
    if mountpoint -q "$work/memory"; then umount "$work/memory"; else systemctl revert purser; fi
    return $status
}

# ---- starts that are in vain, and stops

stops() {
    local from
    from=$(date +%s.%N)
    must 'systemctl stop succeeds' systemctl stop purser || return
    note=$(seconds_since "$from")
    must 'it is inactive' is "$(property ActiveState)" inactive && must 'nothing went wrong' is "$(property Result)" success \
        && must 'exit status 0' is "$(property ExecMainStatus)" 0 && must 'its sockets are gone' [ ! -e /run/purser ]
}
refuses_to_start() {
    local lines
    if systemctl start purser 2>/dev/null; then note='it starts'; return 1; fi
    # Longer than RestartSec=.
    sleep 3
    lines=$(journalctl --unit purser --identifier purser --priority err --since "$since" --output cat --no-pager)
    note=$lines
    must 'a line tells why' [ -n "$lines" ] && must 'exit status 78' is "$(property ExecMainStatus)" 78 && must 'it has failed for good' is "$(property ActiveState)" failed \
        && must 'it was started once' is "$(restarts)" 0 && must 'it is one line' is "$(wc -l <<<"$lines")" 1
}
refuses_rsa_key() {
    openssl genrsa -out /etc/purser/coins.p8 2048 2>/dev/null
    refuses_to_start
    local status=$?
    install -m 0400 "$work/key.p8" /etc/purser/coins.p8
    return $status
}
refuses_configuration() {
    cp /etc/purser/purser.yaml "$work/right.yaml"
    echo 'shutdown: { timeout: soon }' >>/etc/purser/purser.yaml
    refuses_to_start
    local status=$?
    install -m 0644 "$work/right.yaml" /etc/purser/purser.yaml
    return $status
}
# The configuration is read anew while requests come: apps are there at once, and what is wrong changes nothing.
reloads() {
    local folder=$work/reloaded count=10 number process from askers=() serving=yes wrong=refused
    rm -rf "$folder" && mkdir "$folder"
    process=$(property MainPID)
    cp /etc/purser/purser.yaml "$work/right.yaml"
    for number in 1 2; do ask_on "$folder" /run/purser/api.sock & askers+=($!); done
    from=$(date +%s.%N)
    for number in $(seq $count); do
        sed "s/^  coins: {/  gems$number: { bundleId: com.example.gems$number, environments: [Sandbox] }\n&/" "$work/right.yaml" >/etc/purser/purser.yaml
        must "reload $number succeeds" systemctl reload purser || break
        grep -q '^Serving 2 apps' <<<"$(property StatusText)" || serving=no
    done
    note="$number reloads in $(seconds_since "$from")"
    echo 'shutdown: { timeout: soon }' >>/etc/purser/purser.yaml
    ! systemctl reload purser 2>/dev/null || wrong=taken
    grep -q '^Serving 2 apps' <<<"$(property StatusText)" || serving=no
    install -m 0644 "$work/right.yaml" /etc/purser/purser.yaml
    systemctl kill --kill-who main --signal HUP purser
    soon serves_one_app || true
    touch "$folder/over"
    wait "${askers[@]}" || true
    note+="; answers: $(cat "$folder"/[0-9]* | sort | uniq -c | awk '{ $1 = $1 " ×"; printf "%s%s", (NR == 1 ? "" : ", "), $0 }')"
    must 'every request is answered' is "$(cat "$folder"/[0-9]* | cut -c 1-3 | sort -u)" 200 \
        && must 'what is new is there once the reload is over' is "$serving" yes \
        && must 'what is wrong is refused' is "$wrong" refused \
        && must 'and told with file, line and key' journal_has 'shutdown.timeout: ' \
        && must 'a signal reloads, too' soon serves_one_app \
        && must 'it is active' is_active && must 'it is the same process' is "$(property MainPID)" "$process" && must 'it works' works
}
serves_one_app() { grep -q '^Serving 1 app' <<<"$(property StatusText)"; }

# ---- sockets that systemd holds

# Asks without pause, each time on a connection of its own, until there is a file: FOLDER SOCKET. Each answer's status is a line of its file there.
ask_on() {
    while [ ! -e "$1/over" ]; do
        curl --silent --max-time 60 --unix-socket "$2" -o /dev/null -w '%{http_code} %{errormsg}\n' \
            -H @"$work/authorization" http://localhost/v1/apps/coins/deliveries || true
    done >"$1/$BASHPID"
}
restarts_refuse_nobody() {
    local folder=$work/asked count=20 number from askers=()
    rm -rf "$folder" && mkdir "$folder"
    systemctl stop purser
    cp /etc/purser/purser.yaml "$work/right.yaml"
    sed -i 's,unix:/run/purser/api.sock,unix:/run/purser-api.sock,' /etc/purser/purser.yaml
    # As it is shipped, but for the address.
    sed 's,^ListenStream=.*,ListenStream=/run/purser-api.sock,' "$pack/purser-api.socket" >/etc/systemd/system/purser-api.socket
    systemctl daemon-reload
    must 'systemd has nothing to say about the unit' systemd-analyze verify --man=no /etc/systemd/system/purser-api.socket || return
    must 'the socket is there' systemctl start purser-api.socket && must 'it starts' systemctl start purser || return
    for number in 1 2 3 4; do ask_on "$folder" /run/purser-api.sock & askers+=($!); done
    from=$(date +%s.%N)
    for number in $(seq $count); do
        systemctl reset-failed purser 2>/dev/null || true
        must "restart $number succeeds" systemctl restart purser || break
    done
    note="$count restarts in $(seconds_since "$from")"
    touch "$folder/over"
    wait "${askers[@]}" || true
    note+="; answers: $(cat "$folder"/[0-9]* | sort | uniq -c | awk '{ $1 = $1 " ×"; printf "%s%s", (NR == 1 ? "" : ", "), $0 }')"
    systemctl stop purser purser-api.socket
    rm /etc/systemd/system/purser-api.socket
    install -m 0644 "$work/right.yaml" /etc/purser/purser.yaml
    systemctl daemon-reload
    systemctl start purser
    must 'every request is answered' is "$(cat "$folder"/[0-9]* | cut -c 1-3 | sort -u)" 200
}

# ---- the run

install_everything
echo "$(systemctl --version | head -n 1); $(nproc) processors; watchdog $(watchdog) s"
check 'systemd has nothing to say about the unit' unit_is_sound
check 'an RSA key keeps it from starting, for good' refuses_rsa_key
check 'so does a configuration that is wrong' refuses_configuration
check 'it starts, and says so when it works' starts
# Where that one was not chosen.
is_active || systemctl start purser
check 'a reload takes up what is new, whole or not at all, and fails no request' reloads
check 'restarts refuse nobody where systemd holds the socket' restarts_refuse_nobody
while IFS=$'\t' read -r _ part <&3; do
    check "hang of the $part: systemd starts it anew" comes_back "\"$part\"" hang "$part"
done 3<"$pack/functions"
check 'hang of the whole process: systemd starts it anew' comes_back 'Watchdog timeout' stop_process
check 'it is killed: systemd starts it anew' comes_back 'status=9/KILL' kill_process
check 'a journal that does not read holds up nothing' has_journal
if [ -e "$manager" ]; then
    check 'a service manager that halts holds up nothing' is_unmoved halt_manager resume_manager
    check 'nor does one that takes no message any more' manager_is_full
else
    check 'a service manager that halts holds up nothing' no_freezer
fi
check 'thirty large bodies at once' holds_large_bodies
check 'the kernel ends it at its limit of memory: systemd starts it anew' survives_its_limit
check 'it stops clean' stops
conclude
