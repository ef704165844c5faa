# The Go module. Sourced by ../../test.

# What an older Go than go.mod asks for fetches, when it cannot fetch one by itself (that is so from 1.21 on).
go_toolchain=go1.24.13

# have_go: Go as bindings/go/go.mod wants it, and what the example needs.
have_go() {
    command -v go >/dev/null || install_packages golang-go || return 1
    go_starts || older_go_fetches_a_newer_one || return 1
    (cd bindings/go/examples && go mod download)
}

go_starts() { (cd bindings/go && go list . >/dev/null 2>&1); }

# A Go distribution is a module like any other, only that a module's files are not executable.
older_go_fetches_a_newer_one() {
    local folder=$ACEMQ_TEST_CACHE/$go_toolchain
    if ! [ -e "$folder/complete" ]; then
        local module=golang.org/toolchain@v0.0.1-$go_toolchain.$(go env GOOS)-$(go env GOARCH) scratch
        scratch=$(mktemp -d)
        (cd "$scratch" && go mod init scratch && GONOSUMDB= GOFLAGS=-mod=mod go mod download "$module") >/dev/null 2>&1
        rm -rf "$scratch" "$folder"
        cp -R "$(go env GOMODCACHE)/$module" "$folder" || return 1
        chmod -R u+w "$folder"
        chmod +x "$folder"/bin/* "$folder"/pkg/tool/*/*
        touch "$folder/complete"
    fi
    export PATH=$folder/bin:$PATH GOTOOLCHAIN=local
    go_starts
}

test_go() {
    . tests/setup/native.sh
    native_library
    bindings/go/build.sh ffi
    local broker=${CARGO_TARGET_DIR:-$PWD/target}/debug/broker generation
    cd bindings/go
    [ -z "$(gofmt -l .)" ] || { echo "run gofmt on $(gofmt -l .)" >&2; return 1; }
    go vet ./...
    go test -count 1 ./...
    echo "with the race detector"
    ACEMQ_RESULTS= go test -count 1 -race -short ./...
    go test -run '^$' -bench . ./... | grep -E '^(Benchmark|ok|FAIL)'

    echo "the example on real brokers"
    (cd ../.. && cargo build --quiet --locked -p acemq-tests --bin broker)
    cd examples
    go vet ./...
    for generation in $ACEMQ_TEST_BROKERS; do
        ACEMQ_TEST_BROKER="$broker $generation" go test -count 1 ./...
    done
}
