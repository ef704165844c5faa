# The Ruby gem. Sourced by ../../test.

# have_ruby: Ruby 3.1 or newer with ffi, bunny and RSpec, as the distribution has them.
have_ruby() {
    ruby -e 'exit RUBY_VERSION >= "3.1"; ' 2>/dev/null && ruby -e 'require "ffi"; require "bunny"; require "rspec"' 2>/dev/null ||
        install_packages ruby ruby-ffi ruby-bunny ruby-rspec
    ruby -e 'exit(RUBY_VERSION >= "3.1")' || { echo "ruby is older than 3.1" >&2; return 1; }
}

test_ruby() {
    local target=${CARGO_TARGET_DIR:-$PWD/target} gem=$PWD/bindings/ruby
    local work=$target/ruby
    rm -rf "$work"
    mkdir -p "$work/source" "$work/gems"
    cargo build --quiet --locked --profile ffi -p acemq-uniffi
    cargo build --quiet --locked -p acemq-tests --bin broker
    export ACEMQ_TEST_BROKER=$target/debug/broker

    echo "the sources, with the library that ACEMQ_LIBRARY_PATH names"
    (cd "$gem" && ACEMQ_LIBRARY_PATH=$target/ffi rspec -Ilib --format progress)
    (cd "$gem" && ACEMQ_LIBRARY_PATH=$target/ffi ruby -Ilib benchmarks/calls.rb)

    echo "the gem, with the library that it carries"
    cp -r "$gem"/* "$work/source"
    mkdir -p "$work/source/lib/acemq/core/native"
    cp "$target/ffi/libacemq_uniffi.so" "$work/source/lib/acemq/core/native/"
    (cd "$work/source" && gem build --quiet acemq-core.gemspec --output "$work/acemq-core.gem")
    GEM_HOME=$work/gems gem install --quiet --local --no-document --ignore-dependencies "$work/acemq-core.gem"
    # From a folder without the sources, so that it is the installed gem that is loaded.
    (cd "$work" && env -u ACEMQ_LIBRARY_PATH GEM_HOME="$work/gems" ruby "$gem/spec/conformance.rb")
}
