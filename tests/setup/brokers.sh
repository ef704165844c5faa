# The RabbitMQ generations that the tests run against. Sourced by ../../test.
#
# Sets brokers ("distribution 4.0 4.3", those that can be had) and brokers_with_versions.

brokers= brokers_with_versions=

have_brokers() {
    have_distribution
    have_unpacked 4.0 trixie
    have_unpacked 4.3 forky
    # Only thorough runs use it, and nothing is missed where it cannot be had: Debian drops old suites from its mirrors.
    if [ -n "${ACEMQ_TEST_THOROUGH:-}" ] && [ "$(id -u)" = 0 ] && ! [ -e "$ACEMQ_TEST_CACHE/rabbitmq-3.8" ]; then
        unpack bullseye "$ACEMQ_TEST_CACHE/rabbitmq-3.8" || :
    fi
}

# found NAME ROOT: RabbitMQ is below ROOT; its version stands in a folder's name.
found() {
    local version
    version=$(cd "$2/usr/lib/rabbitmq/lib" && ls -d rabbitmq_server-* | sed 's/rabbitmq_server-//')
    brokers="${brokers:+$brokers }$1"
    brokers_with_versions="${brokers_with_versions:+$brokers_with_versions, }$1 = RabbitMQ $version"
}

have_distribution() {
    local server=/usr/lib/rabbitmq/bin/rabbitmq-server
    if ! [ -e $server ]; then
        echo "installing rabbitmq-server"
        if ! install_packages rabbitmq-server; then
            note "the distribution's RabbitMQ: rabbitmq-server is not installed and could not be (it needs apt-get and root)"
            return
        fi
        # It was installed for the tests only: it must not start at the next boot either.
        ! [ -d /run/systemd/system ] || as_root systemctl disable --now rabbitmq-server epmd.service epmd.socket >/dev/null 2>&1 || :
    fi
    found distribution /
}

# have_unpacked GENERATION SUITE
have_unpacked() {
    local root=$ACEMQ_TEST_CACHE/rabbitmq-$1
    if [ "$(id -u)" != 0 ]; then
        note "RabbitMQ $1: only root can enter an unpacked file tree (chroot)"
    elif [ -e "$root/usr/lib/rabbitmq/bin/rabbitmq-server" ] || unpack "$2" "$root"; then
        found "$1" "$root"
    else
        note "RabbitMQ $1: could not be unpacked from Debian's $2 (log: $ACEMQ_TEST_CACHE/unpack-$2.log)"
    fi
}

# unpack SUITE ROOT
unpack() {
    local suite=$1 root=$2 log=$ACEMQ_TEST_CACHE/unpack-$1.log
    echo "unpacking RabbitMQ from Debian's $suite"
    local mirror keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' 2>/dev/null | head -n 1)
    if [ -z "$mirror" ]; then
        # Package lists may never have been fetched on a new machine.
        apt-get -o DPkg::Lock::Timeout=600 -qq update >"$log" 2>&1 || :
        mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' 2>/dev/null | head -n 1)
    fi
    [ -n "$mirror" ] || { echo "apt has no mirror of Debian" >"$log"; return 1; }
    [ -e $keyring ] || { echo "$keyring is not there: install debian-archive-keyring" >"$log"; return 1; }
    rm -rf "$root" "$root.partial" "$root.apt"
    if bash tests/setup/unpack-broker.sh "$suite" "$root.partial" "$root.apt" "$mirror" "$keyring" >"$log" 2>&1; then
        mv "$root.partial" "$root"
        rm -rf "$root.apt"
    else
        tail -n 5 "$log" >&2
        return 1
    fi
}
