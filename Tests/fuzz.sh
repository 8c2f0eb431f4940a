#!/bin/sh
# Feeds the parts that read what strangers say with inputs that libFuzzer makes, branch by branch.
#
# What a target has come upon stays in .build-fuzz/corpus, from where the next run goes on; an input that broke one is
# left in .build-fuzz/finds. After it is mended it belongs into Tests/Fuzz/Corpus, which every run begins with.
# RUNS is how many inputs each target takes at most (default 200000), TIME for how many seconds (no end), ONLY one target.
# With MERGE=1 the corpus of the repository is made anew: the smallest set that reaches what all runs have reached.
set -eu
cd "$(dirname "$0")/.."
build=.build-fuzz
runs=${RUNS:-200000}
fail() { echo "fuzz: $*" >&2; exit 69; }

# The part of libFuzzer without a `main`: the targets have one, which picks among them. Only the compiler's front end is
# told of the fuzzer, since its linking would bring the other `main` into every program of the build.
resources=$(swiftc -print-target-info | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')
runtime=$(ls "$resources"/clang/lib/*/libclang_rt.fuzzer_no_main-"$(uname -m)".a 2>/dev/null) ||
    fail "this Swift compiler has no libFuzzer (those from swift.org for Linux have)"
ROLLCALL_FUZZ=1 swift build --scratch-path "$build" --product fuzz -Xswiftc -Xfrontend -Xswiftc -sanitize=fuzzer \
    -Xlinker "$runtime" -Xlinker -lstdc++ -Xlinker -lm || fail "the targets do not build"
program=$build/debug/fuzz

# Shows a target's last lines: how many inputs, how fast, how much memory.
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
