#!/bin/sh
# Runs the tests of RollcallRedis with hiredis 1.x, independent of the version that the system has.
#
# The C source comes from the sdist of the PyPI package "hiredis". The build stays in .build-hiredis1 for the next run;
# delete that folder to start again. Needs Python with venv, a C compiler and redis-server.
# Arguments go to "swift test", for example --filter ReplyReaderTests.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
work=$root/.build-hiredis1
prefix=$work/hiredis
fail() { echo "hiredis-1x: $*" >&2; exit 1; }

build_hiredis() {
    source=$(mktemp -d)
    trap 'rm -rf "$source"' EXIT
    trap 'exit 1' HUP INT TERM
    python3 -m venv "$source/venv" || fail "python3 cannot make a venv (apt: python3-venv)"
    "$source/venv/bin/python" -m pip download --quiet --disable-pip-version-check --no-cache-dir --no-deps --no-binary hiredis \
        --dest "$source" "hiredis>=3,<4" || fail "pip cannot get the source of hiredis"
    tar -xzf "$source"/hiredis-*.tar.gz -C "$source"
    set -- "$source"/hiredis-*/vendor/hiredis
    [ -f "$1/read.h" ] || fail "the sdist does not hold hiredis's C source where it used to"

    rm -rf "$prefix"
    mkdir -p "$prefix/include/hiredis" "$prefix/lib"
    cp "$1"/*.h "$prefix/include/hiredis/"
    if [ "$(uname)" = Darwin ]; then
        library=libhiredis.dylib
        set -- "$1" -dynamiclib -install_name "@rpath/$library"
    else
        library=libhiredis.so.1
        set -- "$1" -shared -Wl,-soname,"$library"
        ln -s "$library" "$prefix/lib/libhiredis.so"
    fi
    c=$1
    shift
    "${CC:-$(command -v cc || command -v clang)}" -O2 -fPIC "$@" -o "$prefix/lib/$library" \
        "$c/alloc.c" "$c/async.c" "$c/hiredis.c" "$c/net.c" "$c/read.c" "$c/sds.c" "$c/sockcompat.c"
    touch "$prefix/complete"
}

# The package, reduced to what these tests need, so that nothing else is built again.
derive_package() {
    mkdir -p "$work/package"
    ln -sfn "$root/Sources" "$work/package/Sources"
    ln -sfn "$root/Tests" "$work/package/Tests"
    ln -sfn "$root/Config" "$work/package/Config"
    [ -f "$work/package/Package.resolved" ] || cp Package.resolved "$work/package/" 2>/dev/null || true
    {
        cat Package.swift
        cat <<'END'

let needed: Set = [
    "CHiredis", "CScripts", "RedisTwin", "RollcallCore", "RollcallModel", "RollcallRedis", "RollcallRedisTests", "Spawning",
    "TestSupport",
]
package.products = []
package.targets.removeAll { !needed.contains($0.name) }
package.dependencies.removeAll {
    guard case .sourceControl(_, let location, _) = $0.kind else { return true }
    return !["swift-collections", "swift-log", "swift-nio", "swift-nio-ssl"].contains { location.hasSuffix("/\($0)") }
}
END
    } >"$work/package/Package.swift.tmp"
    # A manifest that is not newer than the last build is not read again.
    cmp -s "$work/package/Package.swift.tmp" "$work/package/Package.swift" ||
        mv "$work/package/Package.swift.tmp" "$work/package/Package.swift"
    rm -f "$work/package/Package.swift.tmp"
}

[ -f "$prefix/complete" ] || build_hiredis
derive_package

number() { awk -v name="HIREDIS_$1" '$2 == name { print $3 }' "$prefix/include/hiredis/hiredis.h"; }
version=$(number MAJOR).$(number MINOR).$(number PATCH)
echo "hiredis-1x: testing against hiredis $version in $prefix"

# HiredisTests checks with these that it was compiled against this hiredis and loaded it.
ROLLCALL_HIREDIS_VERSION=$version ROLLCALL_HIREDIS_FOLDER=$prefix/lib \
    swift test --package-path "$work/package" --scratch-path "$work/build" \
    -Xcc "-I$prefix/include" -Xlinker "-L$prefix/lib" -Xlinker -rpath -Xlinker "$prefix/lib" "$@"
