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
# shellcheck source=stage.sh
source "$here/stage.sh"

issuer=57246542-96fe-1a63-e053-0824d011072a
start_simulator
make_key "$issuer"
make_token
simulate PUT /apps/com.example.coins "{\"appAppleId\":1234567890,\"issuerId\":\"$issuer\"}" >/dev/null
account=$(simulate POST /accounts '{"environment":"Production"}' | member id)
transaction=$(simulate POST "/accounts/$account/purchases" \
    '{"bundleId":"com.example.coins","productId":"gems","type":"Consumable","price":990,"currency":"EUR"}' | member transactionId)

# ---- certificates: of the server, and of a client that an authority of its own vouches for

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -days 1 -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost -keyout "$work/server.key" -out "$work/server.pem" 2>/dev/null
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -days 1 -subj /CN=clients \
    -keyout "$work/clients.key" -out "$work/clients.pem" 2>/dev/null
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -subj /CN=client \
    -keyout "$work/client.key" -out "$work/client.csr" 2>/dev/null
openssl x509 -req -in "$work/client.csr" -CA "$work/clients.pem" -CAkey "$work/clients.key" -days 1 -out "$work/client.pem" \
    -extfile <(echo "subjectAltName=URI:spiffe://example.org/shop"; echo "extendedKeyUsage=clientAuth") 2>/dev/null

# Writes the configuration and starts the daemon: what the listener has besides its address.
serve() {
    cat >"$work/purser.yaml" <<YAML
store: sqlite:$work/purser.db
listeners:
  api: { address: "127.0.0.1:0" }
  grpc: { address: "127.0.0.1:0"$1 }
  admin: { address: "unix:$work/admin.sock" }
  health: { address: "127.0.0.1:0" }
apple:
  rootCertificates: [$work/simulator/root.pem]
  upstream: { production: "$production", sandbox: "$sandbox" }
  certificateAuthorityFile: $work/simulator/tls-ca.pem
  attemptTimeout: 60s
  deadline: 120s
keys:
  - { id: $key, issuer: $issuer, file: $work/key.p8, state: active, apps: [coins] }
apps:
  coins: { bundleId: com.example.coins, appAppleId: 1234567890 }
callers:
  shop:
    tokenSHA256: "$digest"
    clientCertificates: ["spiffe://example.org/shop"]
    scopes: { coins: ["consumption:write", "consumption:read", "transactions:read", "events:read", "links:write", "links:read"] }
YAML
    start_daemon
}

check() {
    "$python" "$here/grpc_client.py" "$1" "$(listening grpc)" "$here/../../../api" "$work" "$transaction" "$control" \
        || fail "the checks of $1 have failed"
}

serve ', maximumBodyBytes: 16KiB, reflection: true'
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

serve ", tls: { certificateChain: $work/server.pem, privateKey: $work/server.key, clientCertificateAuthorities: $work/clients.pem, clientCertificates: optional }"
check tls
