//! Processes and folders that vanish with the test that made them.

use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const SUPERVISOR: &str = include_str!("supervise.sh");

/// A process group that is killed, and a folder that is removed, when this value is dropped or the test process ends,
/// whatever ends it: statics are never dropped, and a panic or a signal runs no destructor.
pub(super) struct Supervised {
    supervisor: Mutex<Supervisor>,
}

struct Supervisor {
    shell: Child,
    /// Taken on drop: closing it is the order to clean up.
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    leader: u32,
}

impl Supervised {
    /// Starts `command` with exactly the given environment; what it prints is appended to `log`.
    pub(super) fn start(
        command: &[&str],
        environment: &[(&'static str, String)],
        folder: &Path,
        log: &Path,
    ) -> io::Result<Self> {
        let mut shell = Command::new("/bin/sh")
            .arg("-c")
            .arg(SUPERVISOR)
            .arg("supervise")
            .arg(folder)
            .arg(log)
            .args(command)
            .env_clear()
            .envs(environment.iter().map(|(name, value)| (name, value)))
            // Ctrl-C in a terminal goes to the foreground group: the supervisor must outlive it to clean up.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let orders = shell.stdin.take();
        let answers = BufReader::new(shell.stdout.take().ok_or_else(|| io::Error::other("no standard output"))?);
        let mut supervisor = Supervisor { shell, orders, answers, leader: 0 };
        supervisor.leader = supervisor.read_leader()?;
        Ok(Self { supervisor: Mutex::new(supervisor) })
    }

    /// Whether the process that was started still runs. A zombie does not.
    pub(super) fn is_running(&self) -> bool {
        let leader = self.lock().leader;
        std::fs::read_to_string(format!("/proc/{leader}/stat"))
            .is_ok_and(|stat| stat.rsplit(')').next().is_some_and(|rest| !rest.trim_start().starts_with(['Z', 'X'])))
    }

    /// Kills the whole group at once, as a power failure would.
    pub(super) fn kill(&self) -> io::Result<()> {
        self.lock().order("kill", "ended")
    }

    /// Asks the group to end and waits for it.
    pub(super) fn terminate(&self) -> io::Result<()> {
        self.lock().order("terminate", "ended")
    }

    /// Stops the group without ending it: its sockets stay open and nothing answers.
    pub(super) fn freeze(&self) -> io::Result<()> {
        self.lock().order("freeze", "frozen")
    }

    /// Lets a frozen group go on.
    pub(super) fn thaw(&self) -> io::Result<()> {
        self.lock().order("thaw", "thawed")
    }

    /// Starts the same command again after [`kill`](Self::kill) or [`terminate`](Self::terminate).
    pub(super) fn start_again(&self) -> io::Result<()> {
        let mut supervisor = self.lock();
        supervisor.write("start")?;
        supervisor.leader = supervisor.read_leader()?;
        Ok(())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Supervisor> {
        self.supervisor.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Supervisor {
    fn write(&mut self, order: &str) -> io::Result<()> {
        let orders = self.orders.as_mut().ok_or_else(|| io::Error::other("the supervisor is closed"))?;
        orders.write_all(order.as_bytes())?;
        orders.write_all(b"\n")
    }

    fn read(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        Ok(line.trim_end().to_owned())
    }

    fn order(&mut self, order: &str, expected: &str) -> io::Result<()> {
        self.write(order)?;
        let answer = self.read()?;
        if answer == expected {
            return Ok(());
        }
        Err(io::Error::other(format!("{order}: expected \"{expected}\" from the supervisor, got \"{answer}\"")))
    }

    fn read_leader(&mut self) -> io::Result<u32> {
        let line = self.read()?;
        line.parse().map_err(|_| io::Error::other(format!("expected a process id from the supervisor, got \"{line}\"")))
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        drop(self.orders.take());
        // The supervisor's own clean-up is bounded, so this wait is.
        let _ = self.shell.wait();
    }
}

/// Ports that this process has given out. Nodes start side by side, and a port that one was told is still free until its
/// node listens there: given out twice, one node would take the other's for its own.
static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());

/// `N` different ports of the loopback interface that nobody listens on and that nobody here was given before. Another
/// process may take one before it is used: whoever starts a server on them tries again with new ones.
pub(super) fn free_ports<const N: usize>() -> io::Result<[u16; N]> {
    let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    // Held until the end, so that the system does not offer one of them again.
    let mut listeners = Vec::with_capacity(N);
    let mut ports = [0; N];
    for port in &mut ports {
        loop {
            let listener = TcpListener::bind(("127.0.0.1", 0))?;
            *port = listener.local_addr()?.port();
            listeners.push(listener);
            if given.insert(*port) {
                break;
            }
        }
    }
    Ok(ports)
}

/// A port of the loopback interface for a listener that a test adds to a node.
///
/// # Errors
/// When there is none.
pub fn free_port() -> io::Result<u16> {
    free_ports().map(|[port]| port)
}

/// Asks `ready` until it says yes, gives up (`Err`), or `limit` has passed.
pub(super) fn wait_for(limit: Duration, mut ready: impl FnMut() -> Result<bool, String>) -> Result<(), String> {
    let deadline = Instant::now() + limit;
    loop {
        if ready()? {
            return Ok(());
        }
        if Instant::now() >= deadline {
            return Err(format!("not ready after {limit:?}"));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
