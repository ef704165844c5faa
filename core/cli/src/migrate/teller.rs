//! Says how a run goes on, while it goes on.
//!
//! Steps go to standard output: a line each, or a line of JSON each. How many messages are left, how fast they go and how long
//! that takes is one line of standard error that is rewritten on a terminal, and a line of JSON now and then elsewhere.

use acemq_core::migration::history::Script;
use acemq_migrate::Progress;
use serde_json::{Map, Value as Json, json};
use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

/// Where there is no terminal, progress is told this often.
const PACE: Duration = Duration::from_secs(5);

/// Whoever is told.
pub struct Teller {
    is_json: bool,
    terminal: bool,
    vhost: Option<String>,
    file: Option<String>,
    headings: bool,
    drain: Option<Drain>,
    rewriting: bool,
}

/// Messages that are waited for.
struct Drain {
    since: Instant,
    first: u64,
    told: Option<Instant>,
}

impl Teller {
    /// With `headings`, the name of each file stands before its steps.
    pub fn new(is_json: bool, headings: bool, vhost: Option<&str>) -> Self {
        Self {
            is_json,
            terminal: std::io::stderr().is_terminal(),
            vhost: vhost.map(str::to_owned),
            file: None,
            headings: headings || vhost.is_some(),
            drain: None,
            rewriting: false,
        }
    }

    /// Something happened.
    pub fn tell(&mut self, script: &Script, progress: Progress) {
        self.turn_to(script);
        match progress {
            Progress::Step { number, of, action } => {
                self.clear();
                self.drain = None;
                if self.is_json {
                    self.line(json!({ "step": number, "of": of, "did": action }));
                } else {
                    out(&format!("{number}/{of}  {action}"));
                }
            }
            Progress::Left { messages } => self.left(messages),
            Progress::Note(note) => {
                self.clear();
                if self.is_json {
                    self.line(json!({ "note": note }));
                } else {
                    error(&format!("note: {note}"));
                }
            }
        }
    }

    /// The steps of this file are next.
    pub fn turn_to(&mut self, script: &Script) {
        if self.file.as_deref() == Some(&script.file) {
            return;
        }
        self.clear();
        self.file = Some(script.file.clone());
        if self.headings && !self.is_json {
            match &self.vhost {
                Some(vhost) => out(&format!("{} in vhost {vhost}", script.file)),
                None => out(&script.file),
            }
        }
    }

    fn left(&mut self, messages: u64) {
        let now = Instant::now();
        let drain = self.drain.get_or_insert(Drain { since: now, first: messages, told: None });
        let (rate, seconds) = estimate(drain.first, messages, now.duration_since(drain.since));
        let due = drain.told.is_none_or(|told| now.duration_since(told) >= PACE);
        if self.terminal && !self.is_json {
            let speed = rate.map(|rate| format!(", {rate}/s")).unwrap_or_default();
            let time = seconds.map(|seconds| format!(", about {seconds} s")).unwrap_or_default();
            let _ = write!(std::io::stderr(), "\r\u{1b}[K{messages} messages left{speed}{time}");
            let _ = std::io::stderr().flush();
            self.rewriting = true;
        } else if due && messages > 0 {
            drain.told = Some(now);
            let progress = json!({ "left": messages, "per_second": rate, "seconds": seconds });
            if self.is_json { self.line(progress) } else { error(&self.named(progress)) }
        }
    }

    fn line(&self, line: Json) {
        out(&self.named(line));
    }

    fn named(&self, line: Json) -> String {
        let mut named = Map::new();
        if let Some(vhost) = &self.vhost {
            named.insert("vhost".to_owned(), Json::from(vhost.as_str()));
        }
        if let Some(file) = &self.file {
            named.insert("file".to_owned(), Json::from(file.as_str()));
        }
        if let Json::Object(line) = line {
            named.extend(line);
        }
        Json::Object(named).to_string()
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.rewriting) {
            let _ = write!(std::io::stderr(), "\r\u{1b}[K");
        }
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Messages a second, and the seconds that the rest takes; nothing where nothing can be said yet.
fn estimate(first: u64, left: u64, elapsed: Duration) -> (Option<u64>, Option<u64>) {
    let gone = first.saturating_sub(left);
    let ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
    if gone == 0 || ms == 0 {
        return (None, None);
    }
    let rate = gone.saturating_mul(1000) / ms;
    let seconds = left.saturating_mul(ms).div_ceil(gone.saturating_mul(1000));
    (Some(rate), Some(seconds))
}

fn out(line: &str) {
    let mut out = std::io::stdout();
    let _ = writeln!(out, "{line}");
    let _ = out.flush();
}

fn error(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_takes_as_long_as_what_is_gone_took() {
        let second = Duration::from_secs(1);
        assert_eq!(estimate(100, 100, second), (None, None));
        assert_eq!(estimate(100, 50, second), (Some(50), Some(1)));
        assert_eq!(estimate(1000, 900, second * 2), (Some(50), Some(18)));
        assert_eq!(estimate(50, 100, second), (None, None), "more came than went");
        assert_eq!(estimate(100, 0, Duration::ZERO), (None, None));
    }
}
