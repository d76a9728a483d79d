# Sourced by checks.sh and package-checks.sh: an installation as docs/operations.md has it, in front of the simulator, and what is asked of it.
#   Before: `set -euo pipefail`, and `pack`, the folder with everything.

bin=${bin:-$pack/programs}
# shellcheck source=../stage.sh
source "$pack/stage.sh"
unset WAIT_SECONDS
issuer=57246542-96fe-1a63-e053-0824d011072a

# What the machine has of programs and libraries is used; what it lacks it gets from ours.
install_libraries() {
    local library program
    for library in "$pack"/libraries/*; do
        ldconfig -p | grep -q "^[[:space:]]*${library##*/} " || install -m 0644 "$library" /usr/local/lib/
    done
    ldconfig
    for program in curl openssl; do
        command -v "$program" >/dev/null || install -m 0755 "$pack/programs/$program" /usr/local/bin/
    done
    ! ldd "$bin/purser" "$bin/appstore-simulator" 2>&1 | grep -E 'not found' >&2 || fail "our programs do not run on this machine"
}

# As `systemctl edit purser` would.
use_credential() {
    install -d -m 0755 /etc/systemd/system/purser.service.d
    printf '[Service]\nLoadCredential=coins.p8:/etc/purser/coins.p8\n' >/etc/systemd/system/purser.service.d/keys.conf
}

install_purser() {
    install -m 0755 "$bin/purser" /usr/bin/purser
    install -m 0644 "$pack/purser.service" /etc/systemd/system/purser.service
    configure
}

# Writes the configuration, and puts what it names beside it.
configure() {
    install -d -m 0755 /etc/purser
    install -m 0644 "$work/simulator/root.pem" "$work/simulator/tls-ca.pem" /etc/purser/
    install -m 0400 "$work/key.p8" /etc/purser/coins.p8
    use_credential
    cat >/etc/purser/purser.yaml <<YAML
store: sqlite:/var/lib/purser/purser.db
listeners:
  api: { address: "unix:/run/purser/api.sock" }
  webhook: { address: "unix:/run/purser/webhook.sock" }
  health: { address: "unix:/run/purser/health.sock" }
apple:
  rootCertificates: [/etc/purser/root.pem]
  upstream: { production: "$production", sandbox: "$sandbox" }
  certificateAuthorityFile: /etc/purser/tls-ca.pem
keys:
  - { id: $key, issuer: $issuer, credential: coins.p8, apps: [coins] }
apps:
  coins: { bundleId: com.example.coins, appAppleId: 1234567890 }
callers:
  billing:
    tokenSHA256: "$digest"
    scopes: { coins: ["consumption:write", "consumption:read", "receipts:write", "transactions:read", "links:write"] }
YAML
    systemctl daemon-reload
}

# Puts everything in place, but does not start it.
install_everything() {
    install_libraries
    play_apple
    install_purser
}

# Starts the simulator, with an app, an account and a key of ours, and makes a caller's token.
play_apple() {
    start_simulator
    make_key "$issuer"
    simulate PUT /apps/com.example.coins "{\"appAppleId\":1234567890,\"issuerId\":\"$issuer\"}" >/dev/null
    account=$(simulate POST /accounts '{"environment":"Sandbox"}' | member id)
    make_token
    # The token goes through a file, so that it is in no process's arguments.
    (umask 077; echo "Authorization: Bearer $(<"$work/token")" >"$work/authorization")
}

# ---- what the service manager knows

property() { systemctl show --property "$1" --value purser; }
restarts() { property NRestarts; }
is_active() { systemctl is-active --quiet purser; }
# Whether systemd has started it anew since it had done so COUNT times, and it is ready again.
is_restarted() { [ "$(restarts)" -gt "$1" ] && is_active; }
# Seconds of the watchdog, as the unit has them.
watchdog() { property WatchdogUSec | sed 's/s$//'; }
# Whether the journal of this check has an entry whose text or fields hold TEXT.
journal_has() { journalctl --unit purser --output verbose --since "$since" --no-pager | grep -qF -- "$1"; }

# ---- what callers see

# Asks as a caller: STATUS METHOD PATH [BODY]; the answer is in $work/answer, its request's id in `request`. Whether it has that status.
ask() {
    request=check-$RANDOM$RANDOM
    answered=$(curl --silent --max-time 60 --unix-socket /run/purser/api.sock -o "$work/answer" -w '%{http_code}' -X "$2" \
        -H @"$work/authorization" -H "Prefer: ${prefer:-wait=60}" -H "X-Request-ID: $request" ${4:+-H 'Content-Type: application/json' --data "$4"} \
        "http://localhost$3") || true
    [ "$answered" = "$1" ]
}
# Makes a purchase that nobody has asked about: afterwards `gems` is its id.
buy() {
    gems=$(simulate POST "/accounts/$account/purchases" \
        '{"bundleId":"com.example.coins","productId":"gems.100","type":"Consumable","price":4990,"currency":"EUR"}' | member transactionId)
}
consumption='{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false}'
# Whether all of it works: listeners, store, deliveries and the way to Apple.
works() {
    buy
    ask 200 GET "/v1/apps/coins/transactions/$gems?environment=Sandbox" \
        && ask 200 POST "/v1/apps/coins/transactions/$gems/consumption?environment=Sandbox" "$consumption"
}
# Has an answer accepted that Apple does not take yet: afterwards `promised` is its delivery.
promise() {
    local prefer=respond-async
    simulate POST /faults '{"effect":"status","status":500,"errorCode":5000001,"endpoint":"Send Consumption Information"}' >/dev/null
    buy
    ask 202 POST "/v1/apps/coins/transactions/$gems/consumption?environment=Sandbox" "$consumption" || return
    promised=$(member id <"$work/answer")
    [ -n "$promised" ]
}
is_delivered() { ask 200 GET "/v1/apps/coins/deliveries/$promised" && grep -q '"state" *: *"accepted"' "$work/answer"; }
let_apple_work() { simulate DELETE /faults >/dev/null; }

# ---- what is done to it

# Lets a part hang where it stands: PART. Nothing of the service is changed for it: the first instructions of a function that
# the part cannot do without are overwritten, in the memory of the process, with a wait that never ends.
hang() {
    local process base address
    process=$(property MainPID)
    base=$(sed -n '1s/-.*//p' "/proc/$process/maps")
    address=$(sed -n "s/\t$1\$//p" "$pack/functions")
    case $(uname -m) in
    x86_64) printf '\xb8\x22\x00\x00\x00\x0f\x05\xeb\xf7' ;; # mov $34, %eax; syscall (pause); jmp to the begin
    aarch64) printf '\x00\x00\x00\x14' ;; # b to itself
    *) return 1 ;;
    esac | dd of="/proc/$process/mem" bs=64 oflag=seek_bytes seek=$((0x$base + 0x$address)) conv=notrunc status=none
}
