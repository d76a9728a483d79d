#!/bin/bash
# Installs the Debian package under a real systemd, upgrades, removes and purges it (package-checks.sh).
#   run-package.sh DEB_DIRECTORY [CHECKS]
# rig.sh says what SYSTEMD_RIG is. There the package manager must have, or be able to fetch, what the package depends on.
set -euo pipefail

debs=${1:?usage: run-package.sh DEB_DIRECTORY [CHECKS]}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=rig.sh
source "$here/rig.sh"

pack=$(mktemp -d)
trap 'rm -rf "$pack"' EXIT
mkdir "$pack/programs" "$pack/now" "$pack/later"
cp "$here"/{package-checks,checking,installation}.sh "$here/../stage.sh" "$pack"
cp "$(command -v curl)" "$(command -v openssl)" "$pack/programs"
cp "$debs"/purser_*.deb "$debs"/appstore-simulator_*.deb "$pack/now"

# The same once more, as the next version of it.
dpkg-deb --raw-extract "$pack"/now/purser_*.deb "$pack/raw"
sed -i 's/^Version: .*/&+later/' "$pack/raw/DEBIAN/control"
dpkg-deb --root-owner-group -Znone --build "$pack/raw" "$pack/later/purser-later.deb" >/dev/null
rm -rf "$pack/raw"

# shellcheck disable=SC2016 # for the shell at the other end
tar -C "$pack" -c . | "${rig[@]}" bash -c 'folder=$(mktemp -d) && chmod 755 "$folder" && tar -C "$folder" -x && exec bash "$folder/package-checks.sh" "$1" </dev/null' - "${2:-}"
