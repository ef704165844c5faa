# What comes from the machine's own package manager. Sourced by ../../test.

# as_root COMMAND…: fails when this user cannot become root.
as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
        sudo "$@"
    else
        return 1
    fi
}

# install_packages NAME…: installs without starting any service.
install_packages() {
    command -v apt-get >/dev/null || return 1
    local log=$ACEMQ_TEST_CACHE/apt.log
    (
        # Debian asks this file whether an installed service may start; most machines have none, which means yes.
        policy=/usr/sbin/policy-rc.d
        if ! [ -e $policy ]; then
            trap 'as_root rm -f $policy' EXIT
            as_root sh -c "printf '#!/bin/sh\\nexit 101\\n' > $policy && chmod 755 $policy" || exit 1
        fi
        # Somebody else's apt may hold the lock for a while.
        as_root env DEBIAN_FRONTEND=noninteractive sh -c '
            apt-get -o DPkg::Lock::Timeout=600 -qq update &&
            apt-get -o DPkg::Lock::Timeout=600 -qq -y -o Dpkg::Use-Pty=0 --no-install-recommends install "$@"
        ' install "$@"
    ) >"$log" 2>&1 && return
    tail -n 20 "$log" >&2
    return 1
}

have_linker() {
    command -v cc >/dev/null || install_packages gcc libc6-dev ||
        { echo "no C compiler to link with: install gcc" >&2; exit 1; }
}

# have_c_tools: what the C library's tests use beside the compiler.
have_c_tools() {
    { command -v valgrind && command -v pkg-config; } >/dev/null || install_packages valgrind pkg-config ||
        note "the C programs under valgrind and pkg-config: they could not be installed"
}
