#!/bin/sh
# Checks that an application which imports only RollcallClient builds, links and runs without hiredis.
#
# Three checks, from the fastest to the most reliable: the build compiles only the client and the model of this package;
# the program neither links hiredis nor has a symbol of it; and, if this user may hide files in a mount namespace, the
# build succeeds with hiredis's headers, libraries and pkg-config file hidden.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
package=$root/Tests/Consumer
scratch=$root/.build-consumer
log=$scratch/build.log

fail() {
    echo "consumer: $1" >&2
    exit 1
}

clean_up() {
    rm -rf "$scratch" "$package/Package.resolved" "$package/.swiftpm"
}

# The paths where a compiler, a linker or pkg-config may find hiredis.
hiredis_files() {
    find /usr/include /usr/local/include /usr/lib /usr/local/lib -maxdepth 3 \
        \( -path '*/include/hiredis' -o -name 'libhiredis.*' -o -name 'hiredis*.pc' \) 2>/dev/null || true
}

# Runs inside the namespace: hides each of these files behind an empty one, and then builds.
if [ "${1:-}" = --hidden ]; then
    mkdir -p "$scratch/nothing"
    : >"$scratch/empty"
    for file in $(hiredis_files); do
        if [ -d "$file" ]; then
            mount --bind "$scratch/nothing" "$file"
        else
            mount --bind "$scratch/empty" "$file"
        fi
    done
    if echo '#include <hiredis/hiredis.h>' | cc -E - >/dev/null 2>&1; then
        fail "hiredis's headers could not be hidden"
    fi
    exec swift build --package-path "$package" --scratch-path "$scratch" --verbose
fi

trap clean_up EXIT
clean_up
mkdir -p "$scratch"

# What the main build has fetched need not be fetched again.
if [ -f "$root/Package.resolved" ]; then cp "$root/Package.resolved" "$package/Package.resolved"; fi

if unshare --map-root-user --mount true 2>/dev/null; then
    namespace="unshare --map-root-user --mount"
elif unshare --mount true 2>/dev/null; then
    namespace="unshare --mount"
else
    namespace=
fi
if [ -n "$namespace" ]; then
    $namespace sh "$0" --hidden >"$log" 2>&1 || { tail -n 40 "$log" >&2; fail "the build failed"; }
    how="with hiredis hidden"
else
    swift build --package-path "$package" --scratch-path "$scratch" --verbose >"$log" 2>&1 ||
        { tail -n 40 "$log" >&2; fail "the build failed"; }
    how="hiredis could not be hidden here; judged by what was compiled and linked"
fi

if grep -Eq -- '-module-name (CHiredis|RollcallRedis|RollcallWorker|RollcallCore)|CHiredis|lhiredis' "$log"; then
    fail "the build touches more than the client: see its log"
fi
grep -q -- '-module-name RollcallClient' "$log" || fail "the build log does not show the client being compiled"

program=$scratch/debug/Consumer
if command -v ldd >/dev/null; then
    if ldd "$program" | grep -q hiredis; then fail "the program links hiredis"; fi
fi
if nm "$program" | grep -Eq ' (redisReader|redisCommand|redisConnect)|CHiredis|RollcallRedis'; then
    fail "the program has symbols of hiredis or of the worker"
fi
printed=$("$program")
[ "$printed" = unreachable ] || fail "the program printed \"$printed\""
echo "consumer: built, linked and run ($how)"
