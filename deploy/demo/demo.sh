#!/bin/bash
# The main job, played through: a simulated App Store, a daemon in front of it, and the calls of an internal service.
#   demo.sh BIN_DIRECTORY      KEEP=1 leaves both programs running; STORE=postgres keeps all in a database of a server of its own;
#                              with COPIES=2 besides, two daemons share it, of which one is killed in the middle
# Everything lives in a temporary folder and on free ports; nothing is left behind.
set -euo pipefail

bin=${1:?usage: demo.sh BIN_DIRECTORY}
keep=${KEEP:-}
copies=${COPIES:-1}
case ${STORE:-sqlite}/$copies in sqlite/1 | postgres/[12]) ;; *) echo "demo: STORE is sqlite or postgres, COPIES 1, or 2 with postgres" >&2; exit 2 ;; esac
work=$(mktemp -d)
pids=()

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

say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
fail() { echo "demo: $*" >&2; for log in "$work"/*.log; do echo "--- $log"; tail -n 20 "$log"; done >&2; exit 1; }

# One string member of a JSON object on standard input.
member() { sed -n "s/.*\"$1\" *: *\"\([^\"]*\)\".*/\1/p" | head -n 1; }

# Waits for a file, or for the death of the program that should write it.
await() {
    local _
    for _ in $(seq 300); do
        [ -s "$1" ] && return 0
        kill -0 "$2" 2>/dev/null || fail "a program ended early"
        sleep 0.1
    done
    fail "$1 did not appear"
}

# ---- the App Store, simulated

"$bin/appstore-simulator" --production 127.0.0.1:0 --sandbox 127.0.0.1:0 --control 127.0.0.1:0 \
    --state "$work/simulator" --ready-file "$work/simulator.json" >"$work/simulator.log" 2>&1 &
pids+=($!)
await "$work/simulator.json" "${pids[0]}"
ready=$(tr -d '\n' <"$work/simulator.json" | sed 's#\\/#/#g')
production=$(member production <<<"$ready")
sandbox=$(member sandbox <<<"$ready")
control=$(member control <<<"$ready")

# A call of the simulator's control port: METHOD PATH [BODY]
simulate() { curl --fail-with-body --silent --show-error --max-time 10 -X "$1" "$control$2" ${3:+--data "$3"}; }

issuer=57246542-96fe-1a63-e053-0824d011072a
# Makes a key that the App Store knows: FILE
make_key() {
    (umask 077; openssl ecparam -name prime256v1 -genkey -noout | openssl pkcs8 -topk8 -nocrypt -out "$1")
    local public
    public=$(openssl pkey -in "$1" -pubout | awk '{ printf "%s\\n", $0 }')
    simulate POST /keys "{\"issuerId\":\"$issuer\",\"publicKey\":\"$public\"}" | member keyId
}
key=$(make_key "$work/key.p8")
simulate PUT /apps/com.example.coins "{\"appAppleId\":1234567890,\"issuerId\":\"$issuer\"}" >/dev/null
simulate GET /certificates/root.pem >"$work/root.pem"
simulate GET /certificates/tls-ca.pem >"$work/tls-ca.pem"

account=$(simulate POST /accounts '{"environment":"Sandbox"}' | member id)
buy() { simulate POST "/accounts/$account/purchases" "{\"bundleId\":\"com.example.coins\",$1}" | member transactionId; }
gems=$(buy '"productId":"gems.100","type":"Consumable","price":4990,"currency":"EUR"')
theme=$(buy '"productId":"theme.dark","type":"Non-Consumable","price":1990,"currency":"EUR"')
refunded=$(buy '"productId":"gems.500","type":"Consumable","price":19990,"currency":"EUR"')
premium=$(buy '"productId":"premium.monthly","type":"Auto-Renewable Subscription","subscriptionGroupIdentifier":"21000001","price":9990,"currency":"EUR"')
simulate POST "/transactions/$refunded/refund" '{"reason":1}' >/dev/null
simulate POST "/transactions/$theme/refund" '{"reason":0}' >/dev/null

# ---- the database

store=sqlite:$work/purser.db
if [ "${STORE:-sqlite}" = postgres ]; then
    server=$(find /usr/lib/postgresql -maxdepth 1 -mindepth 1 2>/dev/null | sort -V | tail -n 1)/bin
    [ -x "$server/initdb" ] || fail "PostgreSQL's initdb is missing: install the package postgresql"
    # It refuses to run as root.
    own=()
    if [ "$(id -u)" = 0 ]; then own=(setpriv "--reuid=$(id -u postgres)" "--regid=$(id -g postgres)" --clear-groups); fi
    chmod 711 "$work"
    mkdir "$work/pg"
    [ ${#own[@]} = 0 ] || chown postgres "$work/pg"
    (cd / && "${own[@]}" "$server/initdb" --pgdata "$work/pg/data" --username purser --auth-local=trust --encoding=UTF8 --locale=C \
        --no-sync >"$work/postgres.log" 2>&1) || fail "initdb"
    "${own[@]}" "$server/postgres" -D "$work/pg/data" -k "$work/pg" -c listen_addresses= >>"$work/postgres.log" 2>&1 &
    pids+=($!)
    for _ in $(seq 100); do "$server/psql" -h "$work/pg" -U purser -d postgres -qc 'SELECT 1' >/dev/null 2>&1 && break; sleep 0.1; done
    "$server/createdb" -h "$work/pg" -U purser purser || fail "createdb"
    (umask 077; openssl rand -hex 32 >"$work/master.key")
    store="postgres://purser@/purser?host=$work/pg
masterKey: { file: $work/master.key }"
fi

# ---- the daemon

callers=$("$bin/purser" callers hash)
token=$(grep -o 'prs_[A-Za-z0-9_-]*' <<<"$callers" | head -n 1)
digest=$(grep -o '[0-9a-f]\{64\}' <<<"$callers" | head -n 1)
cat >"$work/purser.yaml" <<YAML
store: $store
audit: { directory: $work/purser.audit }
listeners:
  api: { address: "127.0.0.1:0" }
  grpc: { address: "127.0.0.1:0" }
  webhook: { address: "127.0.0.1:0" }
  admin: { address: "unix:$work/admin.sock" }
  health: { address: "127.0.0.1:0" }
  appleSandbox: { address: "127.0.0.1:0" }
apple:
  # Far less than Apple grants, so that a few calls use it up: a hundredth of a call a second are 36 an hour.
  rateLimits: { sandboxShare: 1%, requestsPerSecond: { "Get App Transaction Info": 1 } }
  rootCertificates: [$work/root.pem]
  upstream: { production: "$production", sandbox: "$sandbox" }
  certificateAuthorityFile: $work/tls-ca.pem
keys:
  - { id: $key, issuer: $issuer, file: $work/key.p8, state: active, apps: [coins] }
apps:
  coins:
    bundleId: com.example.coins
    appAppleId: 1234567890
    # What Apple gets when nobody answers: from usage that was reported, and with consent on record.
    refundPolicy:
      - { rule: untouched, match: { consumptionPercentage: { below: 1 } }, answer: { refundPreference: GRANT_FULL } }
      - { rule: mostly-used, match: { consumptionPercentage: { atLeast: 50000 } }, answer: { refundPreference: DECLINE } }
      - { rule: what-is-known, answer: {} }
callers:
  billing:
    tokenSHA256: "$digest"
    scopes:
      coins: ["consumption:write", "consumption:read", "consent:read", "consent:write", "refunds:read", "transactions:read",
        "links:write", "notifications:read", "events:read", "limits:read", "receipts:read", "receipts:write", "usage:write", "policies:read"]
YAML
"$bin/purser" config check "$work/purser.yaml"
# Port 0 above means any free port; the log says which.
listening() { sed -n "/\"listener\":\"$1\"/s/.*\"address\":\"\([^\"]*\)\".*/\1/p" "$log" | head -n 1; }
# Starts a daemon, and asks that one from now on: NAME of its configuration, log and audit
serve() {
    config=$work/$1.yaml log=$work/$1.log audit=$work/$1.audit admin=$work/$2
    "$bin/purser" serve --config "$config" >"$log" 2>&1 &
    daemon=$!
    pids+=("$daemon")
    for _ in $(seq 300); do
        grep -q '"message":"Ready' "$log" && break
        kill -0 "$daemon" 2>/dev/null || fail "purser ended early"
        sleep 0.1
    done
    api=http://$(listening api)
    health=http://$(listening health)
    simulate PUT /apps/com.example.coins/notification-urls \
        "{\"sandbox\":\"http://$(listening webhook)/webhooks/apple/coins\"}" >/dev/null
}
if [ "$copies" = 2 ]; then
    sed -e "s#$work/admin.sock#$work/other.sock#" -e "s#$work/purser.audit#$work/other.audit#" "$work/purser.yaml" >"$work/other.yaml"
    serve other other.sock
fi
serve purser admin.sock

# ---- the internal service

# Prints a curl command as one would type it, runs it, and prints the answer: STATUS METHOD PATH [BODY]
ask() {
    local expected=$1 method=$2 url=$api$3 body=${4:-} shown status
    shown=$body
    [ ${#body} -le 400 ] || shown="${body:0:80}…${body: -80}"
    printf '\n$ curl'
    [ "$method" = GET ] || printf ' -X %s' "$method"
    # shellcheck disable=SC2016 # to be typed as it stands
    printf ' -H "Authorization: Bearer $TOKEN"'
    [ -z "$body" ] || printf " -H 'Content-Type: application/json' \\\\\n    -d '%s' \\\\\n   " "$shown"
    printf " '%s'\n" "$url"
    status=$(curl --silent --show-error --max-time 30 -o "$work/answer" -w '%{http_code}' -X "$method" \
        -H @"$work/authorization" ${body:+-H 'Content-Type: application/json' --data "$body"} "$url")
    echo "HTTP $status"
    cut -c 1-1600 <"$work/answer"; echo
    [ "$status" = "$expected" ] || fail "expected $expected"
}
# The token goes through a file, so that it is in no process's arguments.
(umask 077; echo "Authorization: Bearer $token" >"$work/authorization")

# Follows the events until one of a type has come: TYPE
cursor=0
follow() {
    local _
    for _ in $(seq 30); do
        curl --silent --show-error --max-time 30 -o "$work/events" -H @"$work/authorization" \
            "$api/v1/apps/coins/events?after=$cursor&wait=10"
        cursor=$(member cursor <"$work/events")
        if grep -q "purser.$1" "$work/events"; then return 0; fi
    done
    fail "no event $1"
}

say "Alice made purchase $gems: say so"
ask 201 PUT "/v1/apps/coins/users/alice/links/transactionId/$gems"
say "She asks Apple for her money back. Apple tells the webhook, and a case opens, with twelve hours to answer"
simulate POST "/transactions/$gems/refund-request" '{"reason":"UNINTENDED_PURCHASE"}' >/dev/null
follow case.opened
ask 200 GET '/v1/apps/coins/cases?state=open'
case=$(member id <"$work/answer")
say "Send consumption for her: her one open case is meant, so nobody needs to know the transaction"
ask 200 POST /v1/apps/coins/users/alice/consumption \
    '{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false,"consumptionPercentage":60000,"refundPreference":"DECLINE"}'
say "Apple decides, which closes the case"
simulate POST "/transactions/$gems/refund-decision" '{"outcome":"REFUND_DECLINED"}' >/dev/null
follow case.decided
ask 200 GET "/v1/apps/coins/cases/$case"
say "Everything that happened, in the order in which it did"
printf '\n$ curl -H "Authorization: Bearer $TOKEN" %s\n' "'$api/v1/apps/coins/events?after=0'"
curl --silent --show-error -H @"$work/authorization" "$api/v1/apps/coins/events?after=0" \
    | grep -o '"type":"purser[^"]*"\|"time":"[^"]*"' | paste - -
say "Her refund history: link the whole Apple Account, then ask"
app_transaction=$(simulate GET "/transactions/$gems" | member appTransactionId)
ask 201 PUT "/v1/apps/coins/users/alice/links/appTransactionId/$app_transaction"
ask 200 GET /v1/apps/coins/users/alice/refunds
say "Alice at a glance: links, accounts, active subscriptions, refunds; Apple is asked about all at once"
ask 200 GET /v1/apps/coins/users/alice
say "Her game uploads the receipt on her device: its signature is checked here, and Apple asked whether all of it is still so"
receipt() { simulate POST "/accounts/$account/receipts" "{\"bundleId\":\"com.example.coins\"$1}" | member receipt; }
ask 200 POST /v1/apps/coins/receipts "{\"user_identifier\":\"alice\",\"country_code\":\"DE\",\"receipt\":\"$(receipt '')\"}"
say "Somebody changes a transaction in a receipt of theirs: Apple did not sign that, and nothing of it is kept"
ask 402 POST /v1/apps/coins/receipts \
    "{\"user_identifier\":\"mallory\",\"receipt\":\"$(receipt ',"tampering":"alteredPayload"')\"}"
say "She withdraws her consent: from the answer on nothing about her goes out, whoever asks for it"
ask 200 PUT /v1/apps/coins/users/alice/consent '{"consented":false,"source":"settings"}'
ask 409 POST "/v1/apps/coins/transactions/$gems/consumption" \
    '{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false}'
say "Bob has agreed that Apple is told. His game reports what became of his gems, by product: it knows none of Apple's ids"
account=$(simulate POST /accounts '{"environment":"Sandbox"}' | member id)
bobs=$(buy '"productId":"gems.100","type":"Consumable","price":4990,"currency":"EUR"')
ask 201 PUT "/v1/apps/coins/users/bob/links/transactionId/$bobs"
ask 200 PUT /v1/apps/coins/users/bob/consent '{"consented":true,"source":"checkout","wordingVersion":"3"}'
ask 200 POST /v1/apps/coins/usage:batch \
    '{"usage":[{"user":"bob","productId":"gems.100","deliveryStatus":"DELIVERED","sampleContentProvided":false,"consumptionPercentage":80000}]}'
if [ "$copies" = 2 ]; then
    say "The copy that has answered all of this is killed. The other one knows what it knew, and goes on"
    kill -KILL "$daemon"
    config=$work/other.yaml log=$work/other.log audit=$work/other.audit admin=$work/other.sock
    api=http://$(listening api)
    health=http://$(listening health)
    simulate PUT /apps/com.example.coins/notification-urls \
        "{\"sandbox\":\"http://$(listening webhook)/webhooks/apple/coins\"}" >/dev/null
    ask 200 GET /v1/apps/coins/users/bob/consent
fi
say "At three in the morning he asks for his money back. Nobody is there: the policy answers, from what the game reported"
simulate POST "/transactions/$bobs/refund-request" '{"reason":"UNINTENDED_PURCHASE"}' >/dev/null
follow case.answered
say "Apple decides; the case shows what was asked for beside what came of it, and which rule asked"
simulate POST "/transactions/$bobs/refund-decision" '{"outcome":"REFUND_DECLINED"}' >/dev/null
follow case.decided
ask 200 GET "/v1/apps/coins/cases?transactionId=$bobs"
ask 200 GET "/v1/apps/coins/cases/$(member id <"$work/answer")"
say "What became of all refund requests: what was asked for against what Apple decided, by rule"
ask 200 GET "/v1/apps/coins/refundReport?environment=Sandbox&groupBy=refundPreference&groupBy=policyRule"
ask 200 GET "/v1/apps/coins/refundReport?environment=Sandbox&groupBy=productId&format=csv"
say "What would other rules have said of the latest cases?"
ask 200 POST /v1/apps/coins/policies:try '{"rules":[{"rule":"generous","answer":{"refundPreference":"GRANT_FULL"}}]}'
say "A request that breaks four rules is told all four"
ask 400 POST /v1/apps/coins/users/alice/consumption \
    '{"customerConsented":false,"deliveryStatus":"LOST","sampleContentProvided":true,"consumptionPercentage":200000}'
say "Apple's limits are kept: with 36 calls an hour configured for this endpoint, some come through, the rest wait here"
admitted=0 refused=0
for _ in $(seq 50); do
    status=$(curl --silent --show-error --max-time 30 -o "$work/answer" -w '%{http_code}' -H @"$work/authorization" \
        "$api/v1/apps/coins/transactions/$premium/appTransaction?environment=Sandbox")
    case $status in
    200) admitted=$((admitted + 1)) ;;
    429) refused=$((refused + 1)) ;;
    *) fail "expected 200 or 429, not $status" ;;
    esac
done
echo "of 50 calls $admitted went to Apple, $refused got 429 at once, such as:"
cut -c 1-600 <"$work/answer"; echo
[ "$admitted" -gt 0 ] && [ "$refused" -gt 0 ] || fail "expected both"
received=$(simulate GET '/received?endpoint=Get%20App%20Transaction%20Info' \
    | sed '/"counters"/,$d' | grep -o '"status" *: *[0-9]*' | sort | uniq -c | tr -s ' \n' ' ') || fail "the App Store received none"
echo "What the App Store answered, times and status:$received"
say "What is left of each limit, and who used it"
ask 200 GET /v1/apps/coins/limits
say "Apple's own library for Python, through the door for the sandbox, with a key that Purser issued"
"$bin/purser" callers issue-key billing --app coins --config "$config" --out "$work/billing.p8" | tee "$work/issued"
python=$work/python/bin/python
if python3 -m venv "$work/python" >/dev/null 2>&1 \
    && "$python" -m pip install --quiet app-store-server-library >/dev/null 2>&1; then
    "$python" "$(dirname "$0")/apple_library.py" "http://$(listening appleSandbox)" "$work/billing.p8" "$work/issued" "$gems"
else
    echo "Left out: python3 with venv and access to a package index are needed to fetch the library."
fi
say "Another key, while everything runs: taken in, judged by Apple, made the one that signs; the one before it retires"
# A command of the operator, as one would type it.
operate() {
    printf '\n$ purser'
    printf ' %q' "$@"
    echo
    "$bin/purser" "$@" --config "$config" || fail "purser $1 $2"
}
next=$(make_key "$work/next.p8")
operate keys import "$work/next.p8" --id "$next" --issuer "$issuer" --app coins
rm "$work/next.p8"
operate keys check "$next"
operate keys activate "$next"
operate keys list
ask 200 GET "/v1/apps/coins/transactions/$gems"
say "Who did what: the audit is kept beside the database, and nobody changes it unseen"
operate audit list --limit 8
operate audit verify
cp -a "$audit" "$work/changed"
sed -i "s/keyActivated/keyRetired/" "$work"/changed/*.jsonl
printf '\n$ purser audit verify --directory %s    # a copy in which one act is called another\n' "$work/changed"
if "$bin/purser" audit verify --directory "$work/changed" --config "$config"; then fail "a changed record was not found"; fi
say "What the App Store received"
simulate GET '/received?endpoint=Send%20Consumption%20Information'; echo
say "Health, for the orchestrator and for people"
printf "\n$ curl '%s/readyz'\n" "$health"; curl --silent --show-error "$health/readyz"; echo
printf "\n$ curl --unix-socket %s 'http://localhost/healthz'\n" "$admin"
curl --silent --show-error --unix-socket "$admin" http://localhost/healthz; echo
say "Metrics"
printf "\n$ curl '%s/metrics' | grep '^purser_.*_total'\n" "$health"
curl --silent --show-error "$health/metrics" | grep '^purser_.*_total'

# Another customer, for the first calls of the README: a refund, and a refund request that waits for an answer.
account=$(simulate POST /accounts '{"environment":"Sandbox"}' | member id)
transaction=$(buy '"productId":"gems.100","type":"Consumable","price":4990,"currency":"EUR"')
refunded=$(buy '"productId":"gems.500","type":"Consumable","price":19990,"currency":"EUR"')
simulate POST "/transactions/$refunded/refund" '{"reason":1}' >/dev/null
simulate POST "/transactions/$transaction/refund-request" '{"reason":"UNINTENDED_PURCHASE"}' >/dev/null
follow case.opened

if [ -n "$keep" ]; then
    say "Both are still running; Ctrl-C ends them. For the first calls of the README:"
    printf 'api=%s/v1/apps/coins\n' "$api"
    printf 'auth="Authorization: Bearer %s"\n' "$token"
    printf 'transaction=%s refunded=%s\n' "$transaction" "$refunded"
    say "And for whatever else you want to try"
    printf 'export TOKEN=%s\n' "$token"
    printf 'api %s   grpc %s   health %s   admin %s\n' "$api" "$(listening grpc)" "$health" "$admin"
    printf 'simulator control %s (docs/simulator.md says what it can do)\n' "$control"
    printf 'configuration %s, logs %s/*.log\n' "$config" "$work"
    wait "${pids[@]}"
else
    say "The first calls of the README, as they stand there"
    awk '/^## The first calls/ { inside = 1 } /^## / && !/The first calls/ { inside = 0 }
        inside && /^```sh/ { block++; next } /^```/ { block = block == 2 ? 3 : block } inside && block == 2' \
        "$(dirname "$0")/../../README.md" >"$work/first.sh"
    calls=$(grep -c '^curl ' "$work/first.sh")
    [ "$calls" -ge 5 ] || fail "the README has $calls first calls"
    # The token goes through the environment of this shell alone, and what curl gets by a file.
    # `-H` takes what stands in a file, too: so the token is in no process's arguments.
    answered=$(
        auth=@$work/authorization
        api=$api/v1/apps/coins
        asked=0
        curl() {
            command curl --fail-with-body --silent --show-error --max-time 30 "$@" >>"$work/first.log" || exit 1
            asked=$((asked + 1))
        }
        # shellcheck source=/dev/null
        source "$work/first.sh"
        echo "$asked"
    ) || fail "a first call of the README is not answered"
    [ "$answered" = "$calls" ] || fail "$answered of $calls first calls were answered"
    echo "$answered calls, all answered with success"
    say "The same by gRPC: one call, and the first event of a stream"
    (umask 077; printf '%s' "$token" >"$work/token")
    # A call of a method of api/purser/v1: METHOD JSON [OPTION...]
    call() {
        printf "\n$ purser call %s '%s' --address %s --token-file token" "$1" "$2" "$(listening grpc)"
        printf ' %s' "${@:3}"
        echo
        "$bin/purser" call "$1" "$2" --address "$(listening grpc)" --token-file "$work/token" --timeout 60 "${@:3}" \
            | tee "$work/answer" | cut -c 1-600
        [ -s "$work/answer" ] || fail "$1 was not answered"
    }
    call ListDeliveries '{"app":"coins","user":"bob","pageSize":1}'
    call WatchEvents '{"app":"coins","from":"2000-01-01T00:00:00Z"}' --limit 1
    say "Done; stopping both"
fi
