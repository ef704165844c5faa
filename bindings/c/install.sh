#!/bin/sh
# Builds the library and installs it as C programs look for it:
#
#     bindings/c/install.sh [PREFIX]        /usr/local unless said; DESTDIR and LIBDIR as in make install
#
#     include/acemq.h   lib/libacemq.a   lib/libacemq.so -> libacemq.so.MAJOR -> libacemq.so.VERSION   lib/pkgconfig/acemq.pc
#
# PROFILE names the cargo profile (release unless said), CARGO_TARGET_DIR where cargo builds.
set -eu
cd "$(dirname "$0")/../.."
prefix=${1:-/usr/local}
libdir=${LIBDIR:-$prefix/lib}
profile=${PROFILE:-release}
case $profile in dev) folder=debug ;; *) folder=$profile ;; esac
built=${CARGO_TARGET_DIR:-target}/$folder

cargo build --quiet --locked -p acemq-ffi --profile "$profile"
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml)
major=$(sed -n 's/^pub const ACEMQ_ABI_MAJOR: u32 = \([0-9]*\);$/\1/p' bindings/c/src/abi.rs)

lib=${DESTDIR:-}$libdir
include=${DESTDIR:-}$prefix/include
install -d "$lib/pkgconfig" "$include"
install -m 644 bindings/c/include/acemq.h "$include/acemq.h"
install -m 644 "$built/libacemq.a" "$lib/libacemq.a"
install -m 755 "$built/libacemq.so" "$lib/libacemq.so.$version"
ln -sf "libacemq.so.$version" "$lib/libacemq.so.$major"
ln -sf "libacemq.so.$major" "$lib/libacemq.so"
sed -e "s|@PREFIX@|$prefix|" -e "s|@LIBDIR@|$libdir|" -e "s|@VERSION@|$version|" bindings/c/acemq.pc.in \
    >"$lib/pkgconfig/acemq.pc"
echo "installed libacemq $version below ${DESTDIR:-}$prefix"
