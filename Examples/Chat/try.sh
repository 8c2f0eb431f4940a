#!/bin/sh
# Builds the example as a program on Linux would, and says how many packages that takes; and an app of Apple's platforms, which
# must take none.
set -eu
cd "$(dirname "$0")"
swift build --scratch-path ../../.build/chat
count=$(grep -c '"identity"' Package.resolved)
if [ "$count" -gt 12 ]; then
    echo "chat: a program with only the client needs $count packages" >&2
    exit 1
fi
echo "chat: built with $count packages"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/Sources"
sed -e 's|traits: \["NIO"\]|traits: []|' -e "s|\"../..\"|\"$(cd ../.. && pwd)\"|" Package.swift >"$folder/Package.swift"
cp Sources/Chat.swift "$folder/Sources"
swift build --package-path "$folder"
if [ -n "$(ls "$folder/.build/checkouts" 2>/dev/null)" ]; then
    echo "chat: an app without traits fetches packages" >&2
    exit 1
fi
echo "chat: built with traits: [] and no package"
"$folder/.build/debug/chat" ws://127.0.0.1:9/v1/connect alice
