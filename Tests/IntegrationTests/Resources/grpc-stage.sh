# Sourced by the programs that hold `listeners.grpc` against clients of others: what stage.sh has, an app that has sold
# something, certificates, and the daemon with its configuration.
#   Before: as for stage.sh, and `here`, the folder of these files.

# shellcheck source=stage.sh
source "$here/stage.sh"

# Buys something with the account, and tells its transaction id.
purchase() {
    simulate POST "/accounts/$account/purchases" \
        '{"bundleId":"com.example.coins","productId":"gems","type":"Consumable","price":990,"currency":"EUR"}' | member transactionId
}

issuer=57246542-96fe-1a63-e053-0824d011072a
start_simulator
make_key "$issuer"
make_token
simulate PUT /apps/com.example.coins "{\"appAppleId\":1234567890,\"issuerId\":\"$issuer\"}" >/dev/null
account=$(simulate POST /accounts '{"environment":"Production"}' | member id)
transaction=$(purchase)

# ---- certificates: of the server, and of a client that an authority of its own vouches for

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -days 1 -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost -keyout "$work/server.key" -out "$work/server.pem" 2>/dev/null
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -days 1 -subj /CN=clients \
    -keyout "$work/clients.key" -out "$work/clients.pem" 2>/dev/null
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -subj /CN=client \
    -keyout "$work/client.key" -out "$work/client.csr" 2>/dev/null
openssl x509 -req -in "$work/client.csr" -CA "$work/clients.pem" -CAkey "$work/clients.key" -days 1 -out "$work/client.pem" \
    -extfile <(echo "subjectAltName=URI:spiffe://example.org/shop"; echo "extendedKeyUsage=clientAuth") 2>/dev/null

# Writes the configuration and starts the daemon: where the listener listens, and what it has besides: ADDRESS [MORE]
serve() {
    cat >"$work/purser.yaml" <<YAML
store: sqlite:$work/purser.db
listeners:
  api: { address: "127.0.0.1:0" }
  grpc: { address: "$1"${2:-} }
  webhook: { address: none }
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
