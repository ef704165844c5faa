//! C programs that use the library: the example, and one that misuses it. Each is compiled by the system's C compiler
//! against the shared and the static library; the second also runs under valgrind.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{LazyLock, Mutex};

#[derive(Debug, Clone, Copy)]
enum Linked {
    Shared,
    Static,
}

/// Cargo puts the libraries beside the tests' own program.
fn libraries() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().to_owned()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The programs that stand already: nobody replaces one that runs.
static COMPILED: LazyLock<Mutex<Vec<PathBuf>>> = LazyLock::new(Mutex::default);

/// A program, compiled without a warning.
fn compiled(source: &str, linked: Linked) -> PathBuf {
    let mut compiled = COMPILED.lock().unwrap();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{linked:?}"));
    std::fs::create_dir_all(&folder).unwrap();
    let program = folder.join(Path::new(source).file_stem().unwrap());
    if compiled.contains(&program) {
        return program;
    }
    let mut cc = Command::new("cc");
    cc.args(["-std=gnu99", "-Wall", "-Wextra", "-Werror", "-O1", "-g", "-I"]);
    cc.arg(root().join("include")).arg(root().join(source)).arg("-o").arg(&program);
    match linked {
        Linked::Static => {
            cc.arg(libraries().join("libacemq.a")).args(["-lpthread", "-ldl", "-lm"]);
        }
        Linked::Shared => {
            // The loader looks for the name with the ABI's major version.
            let (file, name) = (libraries().join("libacemq.so"), folder.join("libacemq.so.1"));
            let _ = std::fs::remove_file(&name);
            std::os::unix::fs::symlink(&file, &name).unwrap();
            cc.arg("-L")
                .arg(libraries())
                .arg("-lacemq")
                .arg("-lpthread")
                .arg(format!("-Wl,-rpath,{}", folder.display()));
        }
    }
    let output = cc.output().expect("a C compiler");
    assert!(output.status.success(), "{source}: {}", String::from_utf8_lossy(&output.stderr));
    compiled.push(program.clone());
    program
}

fn succeeds(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?} ended with {}\n{out}{err}", output.status);
    output
}

#[test]
fn the_example_prints_what_its_readers_expect() {
    let expected = "dead letters of orders: orders.dlq\n\
        after attempt 3: wait 40000 ms on orders.retry.40s\n\
        orders.*.eu matches orders.new.eu: yes\n\
        topology.show: {\"text\":\"Topology: 0 exchanges, 1 queues, 0 bindings\\n  declare queue a (durable, quorum)\\n\"}\n\
        duration_no_unit: \"10\" is no duration; the unit is missing, write \"10s\" for seconds or \"10ms\" for milliseconds\n";
    for linked in [Linked::Shared, Linked::Static] {
        let output = succeeds(&mut Command::new(compiled("examples/tour.c", linked)));
        assert_eq!(String::from_utf8(output.stdout).unwrap(), expected, "{linked:?}");
    }
}

#[test]
fn misuse_has_an_answer_memory_stays_and_nothing_is_printed() {
    for (linked, calls, handles) in [(Linked::Static, "1000000", "100000"), (Linked::Shared, "100000", "10000")] {
        let mut program = Command::new(compiled("tests/programs/abuse.c", linked));
        // A stack trace would be printed as well.
        let output = succeeds(program.args([calls, handles]).env("RUST_BACKTRACE", "1"));
        assert!(output.stdout.ends_with(b" checks\n"), "{linked:?}: {}", String::from_utf8_lossy(&output.stdout));
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{linked:?}");
    }
}

#[test]
fn valgrind_finds_no_error_and_no_leak() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        assert!(std::env::var_os("CI").is_none(), "valgrind is not installed");
        eprintln!("SKIPPED: valgrind is not installed");
        return;
    }
    let mut valgrind = Command::new("valgrind");
    // "Possibly lost" is what a hash table that is still alive looks like: its pointer leads to the middle of its memory.
    valgrind.args(["--quiet", "--error-exitcode=9", "--leak-check=full", "--show-leak-kinds=definite,indirect"]);
    valgrind.arg("--errors-for-leak-kinds=definite,indirect");
    succeeds(valgrind.arg(compiled("tests/programs/abuse.c", Linked::Shared)).args(["100", "100", "20"]));
}

#[test]
fn what_is_installed_is_found_by_pkg_config() {
    let prefix = Path::new(env!("CARGO_TARGET_TMPDIR")).join("installed");
    let mut install = Command::new(root().join("install.sh"));
    install.arg(&prefix).env("PROFILE", "dev").env("CARGO_TARGET_DIR", libraries().join("../.."));
    succeeds(&mut install);
    let Ok(found) = Command::new("pkg-config")
        .args(["--cflags", "--libs", "acemq"])
        .env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"))
        .output()
    else {
        eprintln!("SKIPPED: pkg-config is not installed");
        return;
    };
    let flags = String::from_utf8(found.stdout).unwrap();
    let program = prefix.join("tour");
    let mut cc = Command::new("cc");
    cc.args(["-std=gnu99", "-o"]).arg(&program).arg(root().join("examples/tour.c")).args(flags.split_whitespace());
    succeeds(&mut cc);
    succeeds(Command::new(program).env("LD_LIBRARY_PATH", prefix.join("lib")));
}

#[test]
fn a_program_is_told_by_the_librarys_name_which_abi_it_needs() {
    let program = compiled("examples/tour.c", Linked::Shared);
    let output = succeeds(Command::new("ldd").arg(program));
    let wanted = format!("libacemq.so.{} ", acemq::ACEMQ_ABI_MAJOR);
    assert!(String::from_utf8(output.stdout).unwrap().contains(&wanted), "{wanted}");
}
