#!/bin/bash
# Apple's own server library for Python, sync and async, against the simulator itself and against the Apple-compatible
# doors of `purser serve` in front of it.
#   run-apple-library.sh BIN_DIRECTORY PYTHON [direct|door]
# PYTHON has app-store-server-library and httpx. Without the last argument both settings are run.
set -euo pipefail

usage="usage: run-apple-library.sh BIN_DIRECTORY PYTHON [direct|door]"
bin=${1:?$usage}
python=${2:?$usage}
settings=${3:-direct door}
here=$(cd "$(dirname "$0")" && pwd)
export PYTHONDONTWRITEBYTECODE=1
# shellcheck source=stage.sh
source "$here/stage.sh"

# A certificate of 127.0.0.1 for the receiver of notifications and for a door.
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -days 1 -subj /CN=127.0.0.1 \
    -addext subjectAltName=IP:127.0.0.1 -keyout "$work/tls-key.pem" -out "$work/tls.pem" 2>/dev/null
common="\"simulator\":\"$work/simulator.json\",\"certificate\":\"$work/tls.pem\",\"key\":\"$work/tls-key.pem\""

# Runs the checks of one setting, whose file is $work/SETTING.json: SETTING
check() { "$python" "$here/apple_library" "$work/$1.json" || fail "the $1 setting has failed"; }

start_simulator
cat "$work/simulator/tls-ca.pem" "$work/tls.pem" >"$work/trusted.pem"
# `requests` trusts what the first names, `httpx` what the second does.
export REQUESTS_CA_BUNDLE=$work/trusted.pem SSL_CERT_FILE=$work/trusted.pem

if [[ $settings == *direct* ]]; then
    echo "{$common}" >"$work/direct.json"
    check direct
    simulate POST /reset
fi
[[ $settings == *door* ]] || exit 0

# ---- the daemon, with a door to each environment: one of TLS, one without

issuer=57246542-96fe-1a63-e053-0824d011072a
make_key "$issuer"
make_token
apps="sync async limited-sync limited-async"
scopes="refunds:read, transactions:read, transactions:write, consumption:write, extensions:write, notifications:read"
scopes+=", notifications:test, retentionMessaging:manage, advancedCommerce:manage, signatures:create, tokens:mint"
cat >"$work/purser.yaml" <<YAML
store: sqlite:$work/purser.db
listeners:
  api: { address: "127.0.0.1:0" }
  admin: { address: "unix:$work/admin.sock" }
  health: { address: "127.0.0.1:0" }
  appleProduction:
    address: "127.0.0.1:0"
    tls: { certificateChain: $work/tls.pem, privateKey: $work/tls-key.pem }
  appleSandbox: { address: "127.0.0.1:0" }
apple:
  rootCertificates: [$work/simulator/root.pem]
  upstream: { production: "$production", sandbox: "$sandbox" }
  certificateAuthorityFile: $work/simulator/tls-ca.pem
keys:
  - { id: $key, issuer: $issuer, file: $work/key.p8, state: active, apps: [$(tr ' ' ',' <<<"$apps")] }
apps:
$(number=1234567890; for app in $apps; do
    echo "  $app: { bundleId: com.example.$app, appAppleId: $number }"; number=$((number + 1))
done)
callers:
  library:
    tokenSHA256: "$digest"
    scopes:
$(for app in $apps; do echo "      $app: [$scopes]"; done)
YAML
start_daemon
cat >"$work/door.json" <<JSON
{$common,"door":{"production":"https://$(listening appleProduction)","sandbox":"http://$(listening appleSandbox)",
"purser":"$bin/purser","config":"$work/purser.yaml","issuer":"$issuer","keyId":"$key",
"api":"http://$(listening api)","token":"$work/token","ownKey":"$work/key.p8"}}
JSON
check door
