#!/bin/sh
# Fuzzes the parsers of untrusted input with libFuzzer.
#
# New inputs of a target stay in .build-fuzz/corpus, where the next run continues; an input that caused a failure is saved
# in .build-fuzz/finds. After the fix, it should be added to Tests/Fuzz/Corpus, with which every run starts.
# RUNS is the maximum number of inputs per target (default 200000), TIME the maximum seconds (no limit), ONLY one target.
# MERGE=1 recreates the repository's corpus: the smallest set that reaches everything that all runs have reached.
set -eu
cd "$(dirname "$0")/.."
build=.build-fuzz
runs=${RUNS:-200000}
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
    corpus=$build/corpus/$1
    mkdir -p "$corpus" "$build/finds"
    if FUZZ_TARGET=$1 "$program" -runs="$runs" -rss_limit_mb=1024 -timeout=10 -max_len=4096 -print_final_stats=1 \
        -max_total_time="${TIME:-0}" -artifact_prefix="$build/finds/$1-" "$corpus" "Tests/Fuzz/Corpus/$1" >"$build/$1.log" 2>&1; then
        sed -n "s/^stat::number_of_executed_units: *\([0-9]*\)/$1: \1 inputs/p; s/^stat::average_exec_per_sec: *\([0-9]*\)/$1: \1 a second/p; s/^stat::peak_rss_mb: *\([0-9]*\)/$1: \1 MB at most/p" "$build/$1.log"
    else
        tail -n 40 "$build/$1.log" >&2
        echo "fuzz: $1 broke; the input is in $build/finds" >&2
        return 1
    fi
}

merge() {
    smallest=$build/smallest/$1
    rm -rf "$smallest"
    mkdir -p "$smallest"
    FUZZ_TARGET=$1 "$program" -merge=1 -max_len=512 "$smallest" "$build/corpus/$1" "Tests/Fuzz/Corpus/$1" 2>/dev/null ||
        fail "the corpus of $1 could not be merged"
    find "Tests/Fuzz/Corpus/$1" -type f ! -name 'find-*' -delete
    cp "$smallest"/* "Tests/Fuzz/Corpus/$1/"
}

for target in ${ONLY:-codec configuration redis session websocket}; do
    if [ -n "${MERGE:-}" ]; then merge "$target"; else play "$target"; fi
done
