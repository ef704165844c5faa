# The native library for packages that load or link it. Sourced by LANGUAGE.sh beside this file.

# native_library: builds it once for all of them, quickly and optimised (the profile `ffi`); exports where it is.
native_library() {
    cargo build --quiet --locked -p acemq-ffi --profile ffi
    local built=${CARGO_TARGET_DIR:-$PWD/target}/ffi
    export ACEMQ_LIBRARY_PATH=$built/libacemq.so
    export ACEMQ_STATIC_LIBRARY=$built/libacemq.a
}
