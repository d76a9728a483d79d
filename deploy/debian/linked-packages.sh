#!/bin/bash
# Says what is linked into a program: a line for each package, of identity, version, revision, address, licence and folder,
# parted by tabs.
#   linked-packages.sh SCRATCH_DIRECTORY PROGRAM
# It goes by what the linker was given, so that what is only resolved, or used by another program, is not named.
set -euo pipefail

scratch=${1:?usage: linked-packages.sh SCRATCH_DIRECTORY PROGRAM}
program=${2:?usage: linked-packages.sh SCRATCH_DIRECTORY PROGRAM}
root=$(cd "$(dirname "$0")/../.." && pwd)
objects=$scratch/release/$program.product/Objects.LinkFileList
[ -s "$objects" ] || { echo "${0##*/}: no $objects: run make release" >&2; exit 1; }

# The license of a package, as SPDX has it: FOLDER
license() {
    local text
    text=$(cat "$1"/LICENSE*)
    case $text in
    *'Apache License'*'Runtime Library Exception'*) echo 'Apache-2.0 WITH Swift-exception' ;;
    *'Apache License'*) echo Apache-2.0 ;;
    *'Permission is hereby granted, free of charge'*) echo MIT ;;
    *) echo "${0##*/}: the license of $1 is none that is known here" >&2; return 1 ;;
    esac
}

# Which folder of checkouts each module is built from: where the build's own plan has its sources beside its objects.
awk '
    /^  "/ { folder = "" }
    /^    inputs:/ && match($0, /\/checkouts\/[^\/"]+/) { folder = substr($0, RSTART + 11, RLENGTH - 11) }
    /^    outputs:/ && folder != "" && match($0, /\/[^\/"]+\.build\//) {
        print substr($0, RSTART + 1, RLENGTH - 8) "\t" folder
    }' "$scratch/release.yaml" | sort -u >"$scratch/modules"

# What was resolved: identity, version, revision, address.
awk -F '"' '
    $2 == "identity" { identity = $4 }
    $2 == "location" { location = $4 }
    $2 == "revision" { revision = $4 }
    $2 == "version" && $4 != "" { print identity "\t" $4 "\t" revision "\t" location }' "$root/Package.resolved" >"$scratch/resolved"

sed -n 's|.*/\([^/]*\)\.build/.*|\1|p' "$objects" | sort -u \
    | awk -F '\t' 'NR == FNR { folder[$1] = $2; next } $1 in folder { print folder[$1] }' "$scratch/modules" - | sort -u \
    | while read -r folder; do
        row=$(awk -F '\t' -v identity="${folder,,}" '$1 == identity' "$scratch/resolved")
        [ -n "$row" ] || { echo "${0##*/}: $folder is not resolved" >&2; exit 1; }
        printf '%s\t%s\t%s\n' "$row" "$(license "$scratch/checkouts/$folder")" "$scratch/checkouts/$folder"
    done
