#!/bin/bash
# Counts the instructions of every parser of untrusted bytes for hostile input, with callgrind, and prints a row for each parser
# and shape. A row fails if 1 MiB costs more than 18 times 64 KiB (plus 100,000 instructions), or 64 KiB more than 6 times 16 KiB.
#   run-hostile.sh [PARSER...]
# Without PARSER, it measures all. Run it from the top folder. The table is also written to .build/hostile/table.
set -euo pipefail

tests=Tests/FuzzTests
build=.build/hostile
mkdir -p "$build/dumps"

# ---- the modules and the program

instrumentation=()
source "$tests/Resources/modules.sh"
compile_modules
flags=("${ours[@]}")
# Of larger modules, only the files that parse.
module AppStoreClient "Domain JOSE JSON OpenSSL" \
    Sources/AppStoreClient/{SignedDataVerifier,ChainCache,NotificationClaims+Unverified}.swift
module HTTPRoutes "Domain HTTPTypes" Sources/HTTPAPI/RouteTable.swift "$tests/Resources/hostile/RouteStubs.swift"
module Systemd "Logging" Sources/Systemd/{LogText,LineWriter}.swift
yams=$checkouts/Yams/Sources
for file in api emitter parser reader scanner writer; do
    [ "$build/CYaml-$file.o" -nt "$yams/CYaml/src/$file.c" ] ||
        clang -O2 -DYAML_DECLARE_STATIC -I "$yams/CYaml/include" -c "$yams/CYaml/src/$file.c" -o "$build/CYaml-$file.o"
done
yaml=(-Xcc -DYAML_DECLARE_STATIC -I "$yams/CYaml/include")
flags=("${plain[@]}" -suppress-warnings -D SWIFT_PACKAGE "${yaml[@]}")
module Yams "" "$yams"/Yams/*.swift
flags=("${ours[@]}" "${yaml[@]}")
module Daemon "JSON Yams" Sources/Daemon/Import/{CSVReader,ImportReader}.swift \
    Sources/Daemon/Configuration/{YAMLDocument,ConfigurationElement,ConfigurationProblem}.swift \
    "$tests/Resources/hostile/ConfigurationStubs.swift"
main=("$tests"/Resources/hostile/{Main,Parsers,Shapes,Shapes+Formats}.swift)
if [ -n "$(find "$build"/*.o "$tests"/*.swift "${main[@]}" -newer "$build/hostile" 2>&1)" ]; then
    echo "compiling the program"
    swiftc "${flags[@]}" -module-name Hostile "$tests"/FuzzTarget.swift "$tests"/*Targets.swift "${main[@]}" \
        "$build"/*.o -use-ld=lld $(pkg-config --libs libcrypto libcurl) -o "$build/hostile"
fi

# ---- the runs

# The same hashes in every run, and so the same counts.
export SWIFT_DETERMINISTIC_HASHING=1
if [ $# -eq 0 ]; then
    # Of its own, so that a failure of the program is one of the script.
    names=$("$build/hostile")
    set -- $names
fi

# Writes the rows of a parser to a file of its own.
measure() {
    local parser=$1 dumps=$build/dumps/$1
    mkdir -p "$dumps"
    valgrind --quiet --tool=callgrind --toggle-collect=hostile_run --dump-after=hostile_run \
        --callgrind-out-file="$dumps/out" "$build/hostile" "$parser" "$dumps/out" \
        >"$build/$parser.rows" 2>"$build/$parser.log" ||
        echo "$parser FAILED: the program ended with status $?; see $build/$parser.log" >>"$build/$parser.rows"
    rm -rf "$dumps"
    cat "$build/$parser.rows"
}
export build
export -f measure

# As many at once as there are processors, since no count depends on what else runs.
{
    printf '%-21s %-15s %-21s %8s %11s %8s\n' parser place shape sizes per-byte growth
    printf '%s\n' "$@" | xargs -P "$(nproc)" -I {} bash -c 'measure {}'
} | tee "$build/table"

failed=$(grep -c 'FAILED:' "$build/table" || true)
echo "$(($(wc -l <"$build/table") - 1)) rows, $failed failed"
[ "$failed" -eq 0 ]
