#!/bin/bash
# Another implementation of gRPC, Google's for Python, against `purser serve`: every kind of call, of failure and of end, in
# plain text and by TLS. Its stubs are made at run time, of the files as they are, and of what reflection tells.
#   run-grpc.sh BIN_DIRECTORY PYTHON
# PYTHON has grpcio, grpcio-tools, grpcio-health-checking, grpcio-reflection and googleapis-common-protos.
set -euo pipefail

bin=${1:?usage: run-grpc.sh BIN_DIRECTORY PYTHON}
python=${2:?usage: run-grpc.sh BIN_DIRECTORY PYTHON}
here=$(cd "$(dirname "$0")" && pwd)
export PYTHONDONTWRITEBYTECODE=1
# shellcheck source=grpc-stage.sh
source "$here/grpc-stage.sh"

check() {
    "$python" "$here/grpc_client.py" "$1" "$(listening grpc)" "$here/../../../api" "$work" "$transaction" "$control" \
        || fail "the checks of $1 have failed"
}

serve 127.0.0.1:0 ', maximumBodyBytes: 16KiB, reflection: true'
check plain "$transaction"
# While a stream is open, which must end with a word.
"$python" "$here/grpc_client.py" drain "$(listening grpc)" "$here/../../../api" "$work" "$transaction" "$control" &
drain=$!
await "$drain" test -e "$work/watching"
kill -TERM "${pids[-1]}"
wait "$drain" || fail "the checks of the end have failed"
wait "${pids[-1]}" || fail "the daemon ended with a failure"
unset 'pids[-1]'
grep -q '"message":"The client went away"' "$work/purser.log" || fail "a call that was broken off was worked on"

serve 127.0.0.1:0 ", tls: { certificateChain: $work/server.pem, privateKey: $work/server.key, clientCertificateAuthorities: $work/clients.pem, clientCertificates: optional }"
check tls
