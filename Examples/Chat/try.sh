#!/bin/sh
# Builds the example as an app would, in which nothing of the server is resolved, and says how many packages that takes.
set -eu
cd "$(dirname "$0")"
swift build --scratch-path ../../.build/chat
packages=$(sed -n 's/^ *"identity" : "\(.*\)",$/\1/p' Package.resolved | sort)
count=$(echo "$packages" | wc -l)
if [ "$count" -gt 12 ]; then
    echo "chat: an app with only the client needs $count packages:" $packages >&2
    exit 1
fi
echo "chat: built with $count packages"
