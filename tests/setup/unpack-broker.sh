#!/bin/bash
# usage: unpack-broker.sh SUITE ROOT STATE MIRROR KEYRING
#
# Puts a Debian suite's rabbitmq-server, Erlang and the shell tools that its scripts call below ROOT. Packages are verified by
# apt and unpacked, never configured; apt keeps its state below STATE, this machine's own is not touched.
set -euo pipefail
suite=$1 root=$2 state=$3 mirror=$4 keyring=$5
mkdir -p "$state/lists/partial" "$state/archives/partial" "$root"
: >"$state/status"
echo "deb [signed-by=$keyring] $mirror $suite main" >"$state/sources.list"
apt=(apt-get -q -y
    -o Dir::Etc::sourcelist="$state/sources.list" -o Dir::Etc::sourceparts=/dev/null -o Dir::Etc::preferencesparts=/dev/null
    -o Dir::State="$state" -o Dir::State::lists="$state/lists" -o Dir::State::status="$state/status"
    -o Dir::Cache="$state" -o Dir::Cache::archives="$state/archives" -o Debug::NoLocking=true
    -o APT::Sandbox::User=root -o APT::Install-Recommends=false -o Acquire::Languages=none -o Acquire::Retries=3
    -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false -o Dpkg::Use-Pty=0)
"${apt[@]}" update
"${apt[@]}" --download-only install rabbitmq-server dash bash coreutils sed grep libc-bin base-files
# Today's Debian has these as links into /usr; base-files alone would make them only when it is configured.
for name in bin sbin lib lib64; do
    mkdir -p "$root/usr/$name"
    [ -e "$root/$name" ] || ln -s "usr/$name" "$root/$name"
done
for package in "$state"/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar -x -C "$root" --keep-directory-symlink --no-same-owner
done
[ -e "$root/usr/bin/sh" ] || ln -s dash "$root/usr/bin/sh"
mkdir -p "$root/etc" "$root/tmp" "$root/dev"
for device in null:3 random:8 urandom:9; do
    [ -e "$root/dev/${device%:*}" ] || mknod -m 666 "$root/dev/${device%:*}" c 1 "${device#*:}"
done
echo 'root:x:0:0:root:/root:/bin/sh' >"$root/etc/passwd"
echo 'root:x:0:' >"$root/etc/group"
echo 'hosts: files' >"$root/etc/nsswitch.conf"
echo '127.0.0.1 localhost' >"$root/etc/hosts"
# The proof that all is there: the runtime starts and knows the time.
chroot "$root" /usr/bin/erl -noinput -eval 'halt(0).'
