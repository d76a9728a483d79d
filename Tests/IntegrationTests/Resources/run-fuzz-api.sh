#!/bin/bash
# Holds the API against its own description: `purser serve` in front of the simulator, and schemathesis with right and
# wrong data against every operation of the api listener. It fails for a 5xx, for a response that the description lacks, and for
# one that takes more than five seconds. One call in four has a long run of characters that are expensive to compare (hostile.py).
#   run-fuzz-api.sh BIN_DIRECTORY PYTHON_DIRECTORY [SECONDS [SEED]]
# PYTHON_DIRECTORY is where `st` and `openapi-spec-validator` are. Without a seed one is drawn, and told.
set -euo pipefail

bin=${1:?usage: run-fuzz-api.sh BIN_DIRECTORY PYTHON_DIRECTORY [SECONDS [SEED]]}
python=${2:?usage: run-fuzz-api.sh BIN_DIRECTORY PYTHON_DIRECTORY [SECONDS [SEED]]}
python=$(cd "$python" && pwd)
seconds=${3:-240}
seed=${4:-$RANDOM}
here=$(cd "$(dirname "$0")" && pwd)
description=$here/../../../api/openapi.yaml
export PYTHONDONTWRITEBYTECODE=1
# shellcheck source=stage.sh
source "$here/stage.sh"

"$python/openapi-spec-validator" "$description"

# ---- an App Store with customers

issuer=57246542-96fe-1a63-e053-0824d011072a
start_simulator
make_key "$issuer"
simulate PUT /apps/com.example.coins "{\"appAppleId\":1234567890,\"issuerId\":\"$issuer\"}" >/dev/null
"$python/python" "$here/fuzz_api/customers.py" "$control" "$work"

# ---- the daemon

make_token
cat >"$work/purser.yaml" <<YAML
store: sqlite:$work/purser.db
listeners:
  api: { address: "127.0.0.1:0" }
  admin: { address: "unix:$work/admin.sock" }
  health: { address: "127.0.0.1:0" }
apple:
  rootCertificates: [$work/simulator/root.pem]
  upstream: { production: "$production", sandbox: "$sandbox" }
  certificateAuthorityFile: $work/simulator/tls-ca.pem
keys:
  - { id: $key, issuer: $issuer, file: $work/key.p8, state: active, apps: [coins] }
apps:
  coins: { bundleId: com.example.coins, appAppleId: 1234567890 }
deliveries: { wait: 2s }
receipts: { wait: 2s }
callers:
  fuzzer:
    tokenSHA256: "$digest"
    scopes: { coins: [$("$python/python" "$here/fuzz_api/listener.py" scopes "$description")] }
YAML
start_daemon
api=http://$(listening api)

# Alice and Bob own an Apple Account each, so that lists of theirs come from Apple.
(umask 077; echo "Authorization: Bearer $(<"$work/token")" >"$work/authorization")
while read -r user account; do
    curl --fail-with-body --silent --show-error --max-time "$limit" -o "$work/answer" -X PUT -H @"$work/authorization" \
        "$api/v1/apps/coins/users/$user/links/appTransactionId/$account"
done <"$work/owners"

# ---- the run

"$python/python" "$here/fuzz_api/listener.py" document "$description" >"$work/openapi.json"
cp "$here"/fuzz_api/{schemathesis.toml,hooks.py,hostile.py} "$work"
# The token goes through the environment, so that it is in no process's arguments.
PURSER_TOKEN=$(<"$work/token")
export PURSER_TOKEN
cd "$work"
status=0
"$python/st" --no-color run openapi.json --url "$api" --max-time "$seconds" --seed "$seed" || status=$?
kill -0 "${pids[@]}" || fail "a program ended early"
echo "Answers by route and status:"
answered='.*"listener":"api","method":"\([A-Z]*\)".*"route":"\([^"]*\)","status":\([0-9]*\).*'
sed -n "s/$answered/\2 \1 \3/p" "$work/purser.log" | sort | uniq -c
echo "The slowest responses, in milliseconds:"
took='.*"duration_ms":"*\([0-9]*\).*"listener":"api","method":"\([A-Z]*\)".*"route":"\([^"]*\)","status":\([0-9]*\).*'
sed -n "s/$took/\1 \2 \3 \4/p" "$work/purser.log" | sort -rn | sed -n 1,10p
[ "$status" = 0 ] || echo "run-fuzz-api.sh: the API and its description differ; see above how to repeat it" >&2
exit "$status"
