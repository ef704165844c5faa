//! Names the shared library by the major version of its ABI, so that a program finds the one that it was linked with.

#[path = "src/abi.rs"]
mod abi;

fn main() {
    println!("cargo::rerun-if-changed=src/abi.rs");
    println!("cargo::rerun-if-changed=build.rs");
    let major = abi::ACEMQ_ABI_MAJOR;
    match std::env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("linux" | "android" | "freebsd" | "netbsd" | "openbsd") => {
            println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libacemq.so.{major}");
        }
        Ok("macos") => println!("cargo::rustc-cdylib-link-arg=-Wl,-install_name,@rpath/libacemq.{major}.dylib"),
        _ => {}
    }
}
