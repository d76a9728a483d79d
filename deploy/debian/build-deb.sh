#!/bin/bash
# Makes the packages `purser` and `appstore-simulator`, each with its debug symbols, of programs that `make release` has built.
#   build-deb.sh SCRATCH_DIRECTORY OUT_DIRECTORY
# Nothing is fetched. Of the same programs and commit it makes the same bytes: all times are those of the commit.
set -euo pipefail

scratch=$(cd "${1:?usage: build-deb.sh SCRATCH_DIRECTORY OUT_DIRECTORY}" && pwd)
out=${2:?usage: build-deb.sh SCRATCH_DIRECTORY OUT_DIRECTORY}
root=$(cd "$(dirname "$0")/../.." && pwd)
fail() { echo "${0##*/}: $*" >&2; exit 1; }

version=$(sed -n 's/.*static let text = "\(.*\)"$/\1/p' "$root/Sources/Daemon/Version.swift")
packaged=$(dpkg-parsechangelog --file "$root/deploy/debian/changelog" --show-field Version)
[ "${packaged%-*}" = "$version" ] || fail "deploy/debian/changelog is of $packaged, the program of $version"
commit=$(git -C "$root" rev-parse --short=12 HEAD)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct)}
# The order of sorting and the language of tools must not depend on who builds, nor permissions on their mask.
export SOURCE_DATE_EPOCH LC_ALL=C.UTF-8 TZ=UTC
umask 022

# ---- what debian/rules puts together

rm -rf "$out"
mkdir -p "$out"
# The names of temporary files could stand in the packages; that of this folder does not change.
work=$(cd "$out" && pwd)/purser-$version
mkdir "$work" "$work/programs" "$work/sbom" "$work/man"
cp "$scratch/release/purser" "$scratch/release/appstore-simulator" "$work/programs"
"$root/deploy/man/make-man.sh" "$work/programs" "$work/man"
for program in purser appstore-simulator; do
    "$root/deploy/debian/make-sbom.sh" "$scratch" "$program" "$version" "$commit" >"$work/sbom/$program.spdx.json"
    # What is distributed must be named, and what its authors want to be told goes with it.
    while IFS=$'\t' read -r identity _ _ _ _ folder; do
        grep -qx "Files: checkouts/$identity/\*" "$root/deploy/debian/copyright" \
            || fail "deploy/debian/copyright does not name $identity, which is linked into $program"
        for notice in "$folder"/NOTICE.txt "$folder"/NOTICES.txt; do
            if [ -f "$notice" ]; then printf '==== %s\n\n' "$identity"; cat "$notice"; echo; fi
        done
    done < <("$root/deploy/debian/linked-packages.sh" "$scratch" "$program") >"$work/sbom/$program.NOTICE"
done
# Only what is committed or would be: nothing that lies about in the checkout.
git -C "$root" ls-files -z --cached --others --exclude-standard README.md SECURITY.md CHANGELOG.md docs api deploy \
    | tar -C "$root" --null --files-from - -c | tar -C "$work" -x
mv "$work/deploy/debian" "$work/debian"
chmod -R go-w "$work"

# ---- the packages

(cd "$work" && DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS:-}" dpkg-buildpackage --build=binary --no-sign --no-pre-clean) \
    >"$out/build.log" 2>&1 || { tail -n 30 "$out/build.log" >&2; fail "see $out/build.log"; }
rm -rf "$work"
ls -l "$out"/*.deb
