#!/bin/bash
# Writes the manual pages and the completions of shells, from what the programs and the documents say.
#   make-man.sh BIN_DIRECTORY OUT_DIRECTORY
# SOURCE_DATE_EPOCH is the day on the pages; without it that of the latest commit.
set -euo pipefail

bin=${1:?usage: make-man.sh BIN_DIRECTORY OUT_DIRECTORY}
out=${2:?usage: make-man.sh BIN_DIRECTORY OUT_DIRECTORY}
root=$(cd "$(dirname "$0")/../.." && pwd)

day=$(date --utc --date "@${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct)}" +%F)
version=$(sed -n 's/.*static let text = "\(.*\)"$/\1/p' "$root/Sources/Daemon/Version.swift")
rm -rf "$out"
mkdir -p "$out"

pages=$(mktemp -d)
trap 'rm -rf "$pages"' EXIT
swiftc -parse-as-library -swift-version 6 -warnings-as-errors "$root/deploy/man/Pages.swift" -o "$pages/pages"
for program in purser appstore-simulator; do
    "$pages/pages" command "$bin/$program" "$root/docs/operations.md" "$day" "$version" >"$out/$program.1"
    # It is read by a shell that runs, so it names none.
    "$bin/$program" --generate-completion-script bash | sed '1{/^#!/d}' >"$out/$program.bash"
    for shell in zsh fish; do "$bin/$program" --generate-completion-script "$shell" >"$out/$program.$shell"; done
done
"$pages/pages" configuration "$root/docs/configuration.md" "$day" "$version" >"$out/purser.yaml.5"
