#!/bin/sh
# Builds the native library and puts it where cgo looks for it: bindings/go/build.sh [CARGO-PROFILE], release unless said.
set -eu
cd "$(dirname "$0")/../.."
profile=${1:-release}
case $profile in dev) folder=debug ;; *) folder=$profile ;; esac
cargo build --quiet --locked -p acemq-ffi --profile "$profile"
place=bindings/go/lib/$(go env GOOS)_$(go env GOARCH)
mkdir -p "$place"
ln -f "${CARGO_TARGET_DIR:-target}/$folder/libacemq.a" "$place/libacemq.a" 2>/dev/null ||
    cp "${CARGO_TARGET_DIR:-target}/$folder/libacemq.a" "$place/libacemq.a"
