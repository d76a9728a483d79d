#!/bin/bash
# Runs suites of tests that were built with a sanitizer; whatever it finds fails.
#   run-sanitized.sh address|thread SUITE...
# Each sanitizer has a build folder of its own (.build-address, .build-thread). Run it from the top folder.
set -euo pipefail

sanitizer=${1:?usage: run-sanitized.sh address|thread SUITE...}
shift
here=Tests/IntegrationTests/Resources/sanitized
build=.build-$sanitizer

PURSER_SUITES="$*" swift build --product purserPackageTests --sanitize="$sanitizer" --scratch-path "$build"

case $sanitizer in
address)
    # Leaks too. What is left at the end on purpose is listed with its reason.
    export ASAN_OPTIONS=detect_leaks=1 LSAN_OPTIONS=suppressions=$here/leaks.supp,print_suppressions=0
    ;;
thread)
    clang -O1 -shared -fPIC -o "$build/mutex.so" "$here/mutex.c" -ldl
    export LD_PRELOAD=$PWD/$build/mutex.so TSAN_OPTIONS=suppressions=$here/threads.supp
    ;;
esac
# One suite at a time, so that threads of one are not lost among those of all.
for suite; do
    "$build/debug/purserPackageTests.xctest" --testing-library swift-testing --filter "^$suite\\."
done
