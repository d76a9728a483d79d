#!/bin/bash
# Runs suites of tests that were built with a sanitizer; whatever it finds fails.
#   run-sanitized.sh address|thread SUITE...
# Each sanitizer has a build folder of its own (.build-address, .build-thread), where each suite leaves a log, too.
# Run it from the top folder.
set -euo pipefail

sanitizer=${1:?usage: run-sanitized.sh address|thread SUITE...}
shift
here=Tests/IntegrationTests/Resources/sanitized
build=.build-$sanitizer

echo "building for $sanitizer sanitizer: $*"
PURSER_SUITES="$*" swift build --product purserPackageTests --sanitize="$sanitizer" --scratch-path "$build"

case $sanitizer in
address)
    # Leaks too.
    settings=(ASAN_OPTIONS=detect_leaks=1 "LSAN_OPTIONS=suppressions=$here/leaks.supp,print_suppressions=0")
    ;;
thread)
    clang -O1 -shared -fPIC -o "$build/mutex.so" "$here/mutex.c" -ldl
    settings=("LD_PRELOAD=$PWD/$build/mutex.so" "TSAN_OPTIONS=suppressions=$here/threads.supp")
    ;;
esac
# Thousands of stories that differ in their facts alone would take most of the time.
settings+=(PERMUTATIONS=short)
status=0
# One suite at a time, so that threads of one are not lost among those of all.
for suite; do
    log=$build/$suite.log
    result=passed
    # Its tests share nothing, and those that draw moments by giving way to others come to no end beside hundreds of them.
    serial=()
    [ "$suite" != DomainTests ] || serial=(--no-parallel)
    SECONDS=0
    env "${settings[@]}" "$build/debug/purserPackageTests.xctest" --testing-library swift-testing \
        "${serial[@]}" --filter "^$suite\\." >"$log" 2>&1 || result=FAILED
    tests=$(sed -n 's/.*Test run with \([0-9]*\) tests* .*/\1/p' "$log")
    # A suite of another name would pass without a test.
    [ "${tests:-0}" -gt 0 ] || result=FAILED
    printf '%-8s %-20s %5s tests %5s s  %s\n' "$sanitizer" "$suite" "${tests:-0}" "$SECONDS" "$result"
    [ "$result" = passed ] || { status=1; grep -aE '✘|Sanitizer: |Fatal error' "$log" || tail -n 20 "$log"; echo "see $log"; }
done
exit "$status"
