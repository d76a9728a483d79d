#!/bin/bash
# Holds the service under a real systemd, with its unit as it is shipped: start, hangs, faults, memory, stop (checks.sh).
#   run-systemd.sh BIN_DIRECTORY [CHECKS]
# rig.sh says what SYSTEMD_RIG is.
set -euo pipefail

bin=${1:?usage: run-systemd.sh BIN_DIRECTORY [CHECKS]}
here=$(cd "$(dirname "$0")" && pwd)

# shellcheck source=rig.sh
source "$here/rig.sh"

# ---- what is sent there

pack=$(mktemp -d)
trap 'rm -rf "$pack"' EXIT
mkdir "$pack/programs" "$pack/libraries"
cp "$here"/{checks,checking,installation}.sh "$here/../stage.sh" "$here"/../../../../deploy/systemd/purser{.service,-api.socket} "$pack"
cp "$bin/purser" "$bin/appstore-simulator" "$pack/programs"
cp "$(command -v curl)" "$(command -v openssl)" "$pack/programs"

# All libraries of these programs but the C library's own, which must fit the dynamic linker there.
for program in "$pack"/programs/*; do ldd "$program"; done | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u \
    | grep -Ev '/(libc|libm|libdl|libpthread|librt|libresolv)\.so' | xargs -d '\n' cp -L -t "$pack/libraries"

# Where in the program each part begins that is to hang: what its heartbeat asks of it, its name and its address.
functions=(
    'event loops'    '$s8NIOPosix5EpollO10epoll_wait4epfd6events9maxevents7timeouts5Int32VAJ_SpySo0C6_eventVGA2JtKFZ'
    'curl thread'    '$s4Curl9MultiLoopC4turn33_[0-9A-F]*LLyyAA0B6HandleCAA0A5ErrorVYKF'
    'store executor' '$s11StoreSQLite17ExecutorHeartbeatC3ran8isInsideySb_tF'
    'deliveries'     '$s6Domain13LoopHeartbeatC6turned9isInStoreySb_tF'
)
for ((index = 0; index < ${#functions[@]}; index += 2)); do
    address=$(nm "$pack/programs/purser" | sed -n "s/^0*\([0-9a-f]*\) [tT] ${functions[index + 1]/#\$/\\$}\$/\1/p")
    [ -n "$address" ] || { echo "${0##*/}: ${functions[index]}: no function ${functions[index + 1]} any more" >&2; exit 1; }
    printf '%s\t%s\n' "$address" "${functions[index]}"
done >"$pack/functions"
# Afterwards it can go without what only a debugger reads, where there is a tool for it: there is much of it to send.
strip "$pack/programs/purser" "$pack/programs/appstore-simulator" 2>/dev/null || true

# ---- the run

# shellcheck disable=SC2016 # for the shell at the other end
tar -C "$pack" -c . | "${rig[@]}" bash -c 'folder=$(mktemp -d) && tar -C "$folder" -x && exec bash "$folder/checks.sh" "$1" </dev/null' - "${2:-}"
