//! Which RabbitMQ installations this machine has.

use std::env;
use std::fmt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A line of RabbitMQ versions that tests run against. The exact version is the node's own to tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Generation {
    /// What the machine's own distribution installs: 3.10 on Debian 12.
    Distribution,
    /// 4.0, unpacked by the test command.
    V4_0,
    /// 4.3, unpacked by the test command.
    V4_3,
    /// 3.8, the last line without guarded offers; not among [`ALL`](Self::ALL), started by name where it was unpacked.
    V3_8,
}

/// Where the programs of one generation are.
#[derive(Debug, Clone)]
pub(super) struct Installation {
    /// `None`: installed on this machine. Else the folder that holds another release's file tree, entered by chroot.
    root: Option<PathBuf>,
}

const SERVER: &str = "usr/lib/rabbitmq/bin/rabbitmq-server";

impl Generation {
    /// Those that every test runs against, oldest first.
    pub const ALL: [Self; 3] = [Self::Distribution, Self::V4_0, Self::V4_3];

    /// The word for it in `ACEMQ_TEST_BROKERS`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Distribution => "distribution",
            Self::V4_0 => "4.0",
            Self::V4_3 => "4.3",
            Self::V3_8 => "3.8",
        }
    }

    /// Every generation that tests of this process run against.
    pub fn wanted() -> Vec<Self> {
        Self::ALL.into_iter().filter(|generation| generation.is_wanted()).collect()
    }

    /// How many there are, those outside of `ALL` included.
    pub(super) const COUNT: usize = Self::V3_8 as usize + 1;

    pub(super) const fn index(self) -> usize {
        self as usize
    }

    /// Whether tests run against this generation: it is named in `ACEMQ_TEST_BROKERS` (blank-separated), or that variable is
    /// not set and the machine has it. Says so on standard error when they do not.
    pub(super) fn is_wanted(self) -> bool {
        let why_not = match env::var("ACEMQ_TEST_BROKERS") {
            Ok(names) if names.split_whitespace().any(|name| name == self.name()) => return true,
            Ok(names) => format!("ACEMQ_TEST_BROKERS is \"{names}\""),
            Err(_) => match self.installation() {
                Ok(_) => return true,
                Err(why) => why,
            },
        };
        #[allow(clippy::print_stderr, reason = "a test that does not run must not look as if it had")]
        {
            eprintln!("SKIPPED on RabbitMQ {self}: {why_not}");
        }
        false
    }

    pub(super) fn installation(self) -> Result<Installation, String> {
        let root = match self {
            Self::Distribution => None,
            Self::V4_0 | Self::V4_3 | Self::V3_8 => Some(cache()?.join(format!("rabbitmq-{self}"))),
        };
        let installation = Installation { root };
        let server = installation.outside(&format!("/{SERVER}"));
        if !server.exists() {
            return Err(format!("{} is not there; ./test installs it", server.display()));
        }
        if installation.root.is_some() && !is_root() {
            return Err("only root can enter an unpacked file tree (chroot)".to_owned());
        }
        Ok(installation)
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Installation {
    /// The path, as this process sees it, of what the broker sees as `inside`.
    pub(super) fn outside(&self, inside: &str) -> PathBuf {
        match &self.root {
            Some(root) => root.join(inside.trim_start_matches('/')),
            None => PathBuf::from(inside),
        }
    }

    /// The folder, as the broker sees it, below which data folders are made.
    pub(super) fn temporary(&self) -> String {
        match self.root {
            Some(_) => "/tmp".to_owned(),
            None => env::temp_dir().to_string_lossy().into_owned(),
        }
    }

    /// A command line that runs `program` (a path that the broker sees) from this installation.
    pub(super) fn command(&self, program: &str) -> Vec<String> {
        match &self.root {
            Some(root) => vec!["chroot".to_owned(), root.to_string_lossy().into_owned(), program.to_owned()],
            None => vec![program.to_owned()],
        }
    }
}

/// Where the test command keeps what it downloads: outside the checkout, so that it serves every checkout.
fn cache() -> Result<PathBuf, String> {
    let folder = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    folder("ACEMQ_TEST_CACHE")
        .or_else(|| folder("XDG_CACHE_HOME").map(|cache| cache.join("acemq-tests")))
        .or_else(|| folder("HOME").map(|home| home.join(".cache/acemq-tests")))
        .ok_or_else(|| "neither ACEMQ_TEST_CACHE nor HOME is set".to_owned())
}

fn is_root() -> bool {
    Path::new("/proc/self").metadata().is_ok_and(|process| process.uid() == 0)
}
