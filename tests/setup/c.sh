# The C library. Sourced by ../../test. Its programs are compiled and run by the workspace's own tests.

have_c() { :; }

# test_c: the conformance suites through the functions of the C ABI.
test_c() {
    cargo test --quiet --locked -p acemq-ffi --test conformance -- --nocapture
}
