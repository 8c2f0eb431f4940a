#!/bin/sh
# Fuzzes the parsers of untrusted input with libFuzzer.
#
# New inputs of a target stay in .build-fuzz/corpus, where the next run continues; an input that caused a failure is saved
# in .build-fuzz/finds. After the fix, it belongs into the target's archive in Tests/Fuzz/Corpus, with which every run
# starts. RUNS is the maximum number of inputs per target (default 200000), TIME the maximum seconds (no limit), ONLY one
# target. MERGE=1 recreates the archives: the smallest set that reaches everything that all runs have reached.
set -eu
cd "$(dirname "$0")/.."
build=.build-fuzz
fail() { echo "fuzz: $*" >&2; exit 69; }

# The part of libFuzzer without a `main`: the targets have one, which selects among them. Only the compiler's front end
# gets the fuzzer option, since at link time it would add the other `main` to every program of the build.
resources=$(swiftc -print-target-info | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')
runtime=$(ls "$resources"/clang/lib/*/libclang_rt.fuzzer_no_main-"$(uname -m)".a 2>/dev/null) ||
    fail "this Swift compiler has no libFuzzer (those from swift.org for Linux have)"
ROLLCALL_FUZZ=1 swift build --scratch-path "$build" --product fuzz -Xswiftc -Xfrontend -Xswiftc -sanitize=fuzzer \
    -Xlinker "$runtime" -Xlinker -lstdc++ -Xlinker -lm || fail "the targets do not build"
program=$build/debug/fuzz

# Prints a target's last lines: number of inputs, speed, memory.
play() {
    if FUZZ_TARGET=$1 "$program" -runs="${RUNS:-200000}" -rss_limit_mb=1024 -timeout=10 -max_len=4096 \
        -print_final_stats=1 -max_total_time="${TIME:-0}" -artifact_prefix="$build/finds/$1-" "$build/corpus/$1" \
        "$build/given/$1" >"$build/$1.log" 2>&1; then
        sed -n "s/^stat::number_of_executed_units: *\([0-9]*\)/$1: \1 inputs/p; s/^stat::average_exec_per_sec: *\([0-9]*\)/$1: \1 a second/p; s/^stat::peak_rss_mb: *\([0-9]*\)/$1: \1 MB at most/p" "$build/$1.log"
    else
        tail -n 40 "$build/$1.log" >&2
        echo "fuzz: $1 broke; the input is in $build/finds" >&2
        return 1
    fi
}

merge() {
    rm -rf "$build/smallest"
    mkdir -p "$build/smallest"
    FUZZ_TARGET=$1 "$program" -merge=1 -max_len=512 "$build/smallest" "$build/corpus/$1" "$build/given/$1" 2>/dev/null ||
        fail "the corpus of $1 could not be merged"
    cp "$build/given/$1"/find-* "$build/smallest" 2>/dev/null || true
    tar -czf "Tests/Fuzz/Corpus/$1.tar.gz" -C "$build/smallest" .
}

for target in ${ONLY:-codec configuration redis session websocket}; do
    mkdir -p "$build/corpus/$target" "$build/given/$target" "$build/finds"
    tar -xzf "Tests/Fuzz/Corpus/$target.tar.gz" -C "$build/given/$target"
    if [ -n "${MERGE:-}" ]; then merge "$target"; else play "$target"; fi
done
