//! One line of progress on standard error, for work that takes long, on a terminal only.

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

/// Work shorter than this shows nothing.
const PATIENCE: Duration = Duration::from_millis(500);
/// The line changes no faster than this.
const PACE: Duration = Duration::from_millis(100);

/// A line that is rewritten while work goes on and removed at its end.
pub struct Progress {
    terminal: bool,
    started: Instant,
    shown: Option<Instant>,
}

impl Progress {
    /// Starts the clock.
    pub fn new() -> Self {
        Self { terminal: std::io::stderr().is_terminal(), started: Instant::now(), shown: None }
    }

    /// Shows how far the work is.
    pub fn show(&mut self, done: u64, open: usize) {
        let now = Instant::now();
        let due = match self.shown {
            None => now.duration_since(self.started) > PATIENCE,
            Some(last) => now.duration_since(last) > PACE,
        };
        if self.terminal && due {
            self.shown = Some(now);
            let _ = write!(std::io::stderr(), "\r\u{1b}[K{done} answered, {open} to go");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown.is_some() {
            let _ = write!(std::io::stderr(), "\r\u{1b}[K");
        }
    }
}
