#!/bin/bash
# Holds the examples for Kubernetes against the schemas of its API, and its configuration against Purser.
#   run-kubernetes.sh BIN_DIRECTORY VENV     VENV: a virtual environment of Python with kubernetes-validate
set -euo pipefail

bin=${1:?usage: run-kubernetes.sh BIN_DIRECTORY VENV}
venv=${2:?usage: run-kubernetes.sh BIN_DIRECTORY VENV}
manifests=$(cd "$(dirname "$0")/../../.." && pwd)/deploy/kubernetes

# The volumes, as the commands at the head of the manifest would fill them, in a folder.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/keys" "$work/roots" "$work/tls"
make_certificate() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -noenc -days 2 -subj "/CN=$1" -addext "subjectAltName=DNS:$1" \
        -keyout "$2" -out "$3" 2>/dev/null
}
make_certificate purser "$work/tls/tls.key" "$work/tls/tls.crt"
for root in AppleRootCA-G3.cer AppleIncRootCertificate.cer database-ca.pem; do
    make_certificate "$root" "$work/unused" "$work/roots/$root"
done
openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:prime256v1 -out "$work/keys/coins.p8" 2>/dev/null
openssl rand -hex 32 >"$work/keys/master.key"
echo secret >"$work/keys/database.password"
chmod 0440 "$work"/keys/* "$work/tls/tls.key"
for manifest in "$manifests"/*.yaml; do
    "$venv/bin/kubernetes-validate" --strict "$manifest"
    "$venv/bin/python" - "$manifest" >"$work/purser.yaml" <<'PYTHON'
import sys, yaml
maps = [one for one in yaml.safe_load_all(open(sys.argv[1])) if one["kind"] == "ConfigMap"]
sys.stdout.write(maps[0]["data"]["purser.yaml"])
PYTHON
    sed -i "s,/etc/purser/,$work/,g" "$work/purser.yaml"
    "$bin/purser" config check "$work/purser.yaml"
done
