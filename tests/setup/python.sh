# The Python package. Sourced by ../../test.

# have_python: CPython 3.10 or newer, and the wheels of bindings/python/requirements.txt below the cache.
have_python() {
    command -v python3 >/dev/null || install_packages python3 || return 1
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
        { echo "python3 is older than 3.10" >&2; return 1; }
    python3 -c 'import ensurepip, venv' 2>/dev/null || install_packages python3-venv || return 1
    local wanted
    wanted=$({ python3 -VV; cat bindings/python/requirements.txt; } | sha256sum | cut -c 1-16)
    export python_wheels=$ACEMQ_TEST_CACHE/python-wheels-$wanted
    [ ! -e "$python_wheels/complete" ] || return 0
    rm -rf "$python_wheels"
    python3 -m venv "$python_wheels/venv" &&
        "$python_wheels/venv/bin/pip" download --quiet --dest "$python_wheels" -r bindings/python/requirements.txt &&
        rm -rf "$python_wheels/venv" &&
        touch "$python_wheels/complete"
}

# fresh_venv FOLDER REQUIREMENT…: a new environment that holds these, from the cached wheels and from dist.
fresh_venv() {
    local folder=$1
    shift
    rm -rf "$folder"
    python3 -m venv "$folder"
    "$folder/bin/pip" install --quiet --no-index --find-links "$python_wheels" --find-links "$python_work/dist" "$@"
}

test_python() {
    local target=${CARGO_TARGET_DIR:-$PWD/target} package=$PWD/bindings/python
    python_work=$target/python
    rm -rf "$python_work/dist"
    mkdir -p "$python_work/dist"
    fresh_venv "$python_work/tools" -r "$package/requirements.txt"
    local tools=$python_work/tools/bin
    (cd "$package" && "$tools/ruff" check --quiet --no-cache && "$tools/ruff" format --quiet --no-cache --check)
    (cd "$package" && "$tools/maturin" build --profile ffi --locked --quiet --out "$python_work/dist")
    # Dated now: what was built before of files with the same names would be taken for up to date with those of 2006.
    (cd "$package" && SOURCE_DATE_EPOCH=$(date +%s) "$tools/maturin" sdist --out "$python_work/dist")

    echo "the wheel, in an environment of its own"
    fresh_venv "$python_work/venv" --only-binary acemq-core 'acemq-core[test]'
    local python=$python_work/venv/bin/python
    (cd "$package" && "$python" -m mypy)
    "$python" "$package/tests/conformance.py"
    cargo build --quiet --locked -p acemq-tests --bin broker
    (cd "$package" && ACEMQ_TEST_BROKER=$target/debug/broker "$python" -m pytest -q)
    "$python" "$package/benchmarks/calls.py"

    echo "the source distribution, built in an environment of its own"
    # The sources alone have to be enough; what is built of other crates may be used again.
    CARGO_TARGET_DIR=$target MATURIN_PEP517_ARGS="--profile dev" PIP_NO_INDEX=1 PIP_FIND_LINKS=$python_wheels \
        fresh_venv "$python_work/from-source" --no-cache-dir --no-binary acemq-core acemq-core
    "$python_work/from-source/bin/python" "$package/tests/conformance.py"
}
