#!/bin/bash
# Runs the steps of the last stage of deploy/container/Containerfile, without an engine for containers, in a root file system
# that mmdebstrap makes; then its program, in front of a simulated App Store, as an engine would with `--read-only`.
#   run-container.sh RELEASE_DIRECTORY     the programs that `make release` has built, which is what the stage before does
# Needs root and the system's package archive. What a base image has beyond the distribution's own minimum is not in it.
set -euo pipefail

release=$(cd "${1:?usage: run-container.sh RELEASE_DIRECTORY}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
source_root=$(cd "$here/../../.." && pwd)
bin=$release
# shellcheck source=stage.sh
source "$here/stage.sh"

# Mounts are made in a namespace of our own, and are gone with it.
if [ "${CONTAINER_CHECK_INSIDE:-}" != yes ]; then
    rmdir "$work"
    CONTAINER_CHECK_INSIDE=yes exec unshare --mount --propagation private "$0" "$@"
fi
root=$work/root
# Nothing that is mounted there may be reached by what removes the folder.
# shellcheck disable=SC2317 # called by the trap
leave() {
    local pid
    for pid in "${pids[@]}"; do kill -TERM "$pid" 2>/dev/null || true; done
    for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
    while mountpoint --quiet "$root"; do umount --recursive "$root" || umount --recursive --lazy "$root" || exit 1; done
    for pid in proc dev; do if mountpoint --quiet "$root/$pid"; then umount "$root/$pid" || exit 1; fi; done
    rm -rf --one-file-system "$work"
}
trap leave EXIT
say() { printf '%s\n' "$*"; }

# The steps of the last stage, one a line.
awk '/^FROM / { steps = "" } { steps = steps $0 "\n" } END { printf "%s", steps }' "$source_root/deploy/container/Containerfile" \
    | sed '/^#/d; /^$/d' | sed -e ':join' -e '/\\$/ { N; s/\\\n */ /; b join' -e '}' >"$work/steps"

user=root entrypoint=() command=()
# Parts of a JSON array of plain texts, one a line.
texts() { grep -o '"[^"]*"' <<<"$1" | tr -d '"'; }
make_root() {
    local suite=${1#*debian:} mirror
    suite=${suite%-slim}
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -v security | head -n 1)
    mmdebstrap --mode=root --variant=minbase "$suite" "$root" "deb $mirror $suite main" >"$work/mmdebstrap.log" 2>&1 \
        || fail "mmdebstrap makes no root"
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    mount -t proc proc "$root/proc"
    add_devices
}
# The few that an engine gives, and none of this machine's.
add_devices() {
    mount -t tmpfs -o mode=0755 tmpfs "$root/dev"
    mknod -m 0666 "$root/dev/null" c 1 3
    mknod -m 0666 "$root/dev/zero" c 1 5
    mknod -m 0666 "$root/dev/random" c 1 8
    mknod -m 0666 "$root/dev/urandom" c 1 9
    ln -s /proc/self/fd "$root/dev/fd"
}
run_step() { chroot "$root" /bin/sh -c "$1" >"$work/step.log" 2>&1 || fail "RUN $1"; }
copy_step() {
    local words=() last file
    read -r -a words <<<"$1"
    [ "${words[0]}" = --from=build ] || fail "COPY from elsewhere than the stage before: $1"
    last=${words[-1]}
    for file in "${words[@]:1:${#words[@]}-2}"; do
        file=${file#/source/}
        [[ $last != */ ]] || mkdir -p "$root$last"
        cp "$source_root/$file" "$root$last"
    done
}
while read -r step rest; do
    say "$step ${rest:0:100}"
    case $step in
    FROM) make_root "$rest" ;;
    RUN) run_step "$rest" ;;
    COPY) copy_step "$rest" ;;
    USER) user=$rest ;;
    ENTRYPOINT) mapfile -t entrypoint < <(texts "$rest") ;;
    CMD) mapfile -t command < <(texts "$rest") ;;
    VOLUME | EXPOSE | STOPSIGNAL) ;;
    *) fail "an unknown step: $step" ;;
    esac
done <"$work/steps"

# ---- what an engine does

uid=$(chroot "$root" id -u "$user") gid=$(chroot "$root" id -g "$user")
[ "$uid" != 0 ] || fail "it would run as root"
issuer=57246542-96fe-1a63-e053-0824d011072a
start_simulator
make_key "$issuer"
simulate PUT /apps/com.example.coins "{\"appAppleId\":1234567890,\"issuerId\":\"$issuer\"}" >/dev/null
simulate GET /certificates/root.pem >"$root/etc/purser/root.pem"
simulate GET /certificates/tls-ca.pem >"$root/etc/purser/tls-ca.pem"
install -m 0440 -g "$gid" "$work/key.p8" "$root/etc/purser/coins.p8"
cat >"$root/etc/purser/purser.yaml" <<YAML
store: sqlite:/var/lib/purser/purser.db
listeners: { api: { address: "127.0.0.1:0" }, webhook: { address: "127.0.0.1:0" }, health: { address: "127.0.0.1:0" } }
apple:
  rootCertificates: [/etc/purser/root.pem]
  upstream: { production: "$production", sandbox: "$sandbox" }
  certificateAuthorityFile: /etc/purser/tls-ca.pem
keys:
  - { id: $key, issuer: $issuer, file: /etc/purser/coins.p8, allowGroupReadable: true, apps: [coins] }
apps:
  coins: { bundleId: com.example.coins, appAppleId: 1234567890 }
YAML
chmod 0644 "$root"/etc/purser/*.pem "$root/etc/purser/purser.yaml"
mkdir "$work/volume"
cp -a "$root/var/lib/purser/." "$work/volume"
chown --reference="$root/var/lib/purser" "$work/volume"
chmod --reference="$root/var/lib/purser" "$work/volume"
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount --bind "$work/volume" "$root/var/lib/purser"
mount -t tmpfs -o "mode=0700,uid=$uid,gid=$gid" tmpfs "$root/run/purser"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -t proc proc "$root/proc"
add_devices

# Runs something as the container does: without rights, and without a way to more.
container=(
    chroot "$root" setpriv --reuid "$uid" --regid "$gid" --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all
)
contained() { "${container[@]}" "$@"; }
# By itself, so that what is told to stop is the program.
(exec "${container[@]}" "${entrypoint[@]}" "${command[@]}") >"$work/purser.log" 2>&1 &
pids+=($!)
daemon=$!
await "$daemon" grep -qs '"message":"Ready' "$work/purser.log"
health=http://$(listening health)

hold() { local what=$1; shift; "$@" || fail "not so: $what"; say "ok      $what"; }
is() { [ "$1" = "$2" ]; }
status_of() { curl --silent --max-time "$limit" -o "$work/answer" -w '%{http_code}' "$health$1"; }
process() { sed -n "s/^$1:[[:space:]]*//p" "/proc/$daemon/status"; }
hold '/livez answers 200' is "$(status_of /livez)" 200
hold '/readyz answers 200' is "$(status_of /readyz)" 200
hold "it runs as $uid" is "$(process Uid | cut -f 1,2)" "$(printf '%s\t%s' "$uid" "$uid")"
hold 'it has no capability, and cannot get one' is "$(process CapEff) $(process CapBnd) $(process NoNewPrivs)" '0000000000000000 0000000000000000 1'
hold 'its root is read-only' is "$(contained sh -c 'touch /etc/purser/x /usr/x 2>&1' | grep -c 'Read-only file system')" 2
hold 'it has written nothing but its volume' test -s "$work/volume/purser.db"
hold 'its operator is answered' is "$(contained "${entrypoint[@]}" apps --output json | grep -c '"com.example.coins"')" 1
hold 'there is no compiler in it' is "$(contained sh -c 'command -v swift gcc cc make || true')" ''
kill -TERM "$daemon"
ended=0
wait "$daemon" || ended=$?
hold 'told to stop it ends with 0' is "$ended" 0
say "the root takes $(du --summarize --block-size=MB --one-file-system "$root" | cut -f 1), of which the program $(du --block-size=MB "$root/usr/bin/purser" | cut -f 1)"
