#!/bin/bash
# Builds the targets of `Tests/FuzzTests` with libFuzzer and address sanitizer, and lets each run. The sanitizer for undefined
# behaviour is none of Swift's for Linux: Swift itself stops where C would be undefined.
#   run-fuzz.sh SECONDS [TARGET...]
# Seconds are for each target; without any all run. Only the modules of `modules.sh` are compiled.
# What is found is written into .build/fuzz/found, whence it goes into the corpus once it is mended. Run it from the top folder.
set -euo pipefail

seconds=${1:?usage: run-fuzz.sh SECONDS [TARGET...]}
shift
tests=Tests/FuzzTests
build=.build/fuzz
mkdir -p "$build/found" "$build/corpus"
[ $# -gt 0 ] || set -- $(ls "$tests/Resources/corpus")

# ---- the modules and the targets

instrumentation=(-sanitize=fuzzer,address)
source "$tests/Resources/modules.sh"
compile_modules
if [ -n "$(find "$build"/*.o $tests/*.swift "$tests/Resources/libFuzzer.swift" -newer "$build/fuzz" 2>&1)" ]; then
    echo "compiling the targets"
    swiftc "${flags[@]}" -module-name Fuzz "$tests"/FuzzTarget.swift "$tests"/*Targets.swift \
        "$tests/Resources/libFuzzer.swift" "$build"/*.o -use-ld=lld $(pkg-config --libs libcrypto libcurl) -o "$build/fuzz"
fi

# ---- the runs

# What Swift would print of a crash, the sanitizer prints.
export SWIFT_BACKTRACE=enable=no

# How many findings of a target are kept, those of earlier runs too.
findings() { find "$build/found/$1" -type f | wc -l; }

status=0
for target; do
    mkdir -p "$build/found/$target" "$build/corpus/$target"
    log=$build/$target.log
    before=$(findings "$target")
    # An input may take ten seconds and half a gigabyte beyond what the sanitizer needs; nothing comes near either.
    FUZZ_TARGET=$target "$build/fuzz" -max_total_time="$seconds" -max_len=16384 -timeout=10 -rss_limit_mb=1024 \
        -print_final_stats=1 -artifact_prefix="$build/found/$target/" "$build/corpus/$target" \
        "$tests/Resources/corpus/$target" >"$log" 2>&1 || { status=1; tail -n 40 "$log"; }
    executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    memory=$(sed -n 's/^stat::peak_rss_mb: *//p' "$log")
    printf '%-20s %10s executions  %5s MiB  %3s found\n' "$target" "${executions:-?}" "${memory:-?}" \
        $(($(findings "$target") - before))
done
exit "$status"
