//! A library in a process of its own, which answers one JSON line to each JSON line that it is given.
//!
//! It is given `{"id", "operation", "input"}` and answers, in any order, `{"id", "output"}`, `{"id", "error": {"code", …}}` or
//! `{"id", "unsupported": true}`. Whatever it does instead (end, hang, print something else) fails the cases that are open at
//! that time, and it is started anew for the others; one that does so three times without a single answer is given up.

use super::fixtures::Fixtures;
use super::report::{Answer, Outcome};
use crate::failure::Failure;
use acemq_core::api::Case;
use acemq_core::topology::shown_name;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How often in a row an adapter may be started in vain.
const IN_VAIN: usize = 3;
/// The longest line that is taken for an answer.
const LONGEST_LINE: u64 = 64 << 20;
/// How long an adapter may take to end once it was told everything.
const FAREWELL: Duration = Duration::from_secs(1);

/// How to run an adapter.
pub struct Adapter {
    program: String,
    arguments: Vec<String>,
    /// How long it may be silent while a case is open.
    timeout: Duration,
    /// How many cases may be open at once.
    open: usize,
}

impl Adapter {
    /// An adapter by its command line.
    pub fn new(command: &[String], timeout: Duration, open: usize) -> Result<Self, Failure> {
        match command.split_first() {
            Some((program, arguments)) => {
                Ok(Self { program: program.clone(), arguments: arguments.to_vec(), timeout, open: open.max(1) })
            }
            None => Err(Failure::input("which adapter? give its command behind --")),
        }
    }

    /// Runs every case, and gives what came of each in their order. An error is an adapter that cannot be started at all.
    pub fn run(&self, fixtures: &Fixtures) -> Result<Vec<Outcome>, Failure> {
        let mut run = Run { cases: fixtures.cases().collect(), outcomes: BTreeMap::new(), next: 0 };
        let mut in_vain = 0;
        while run.next < run.cases.len() {
            let answered = run.outcomes.len();
            let broken = match Process::start(self) {
                Ok(mut process) => {
                    let end = run.go_on(&mut process, self);
                    process.end(end.is_ok());
                    end.err().map(|open| open.len())
                }
                Err(why) if run.next == 0 => return Err(Failure::input(why)),
                Err(why) => {
                    run.fail_rest(&why);
                    break;
                }
            };
            // Open cases have their outcome too, but nobody answered those.
            let fruitful = run.outcomes.len() > answered + broken.unwrap_or_default();
            in_vain = if fruitful { 0 } else { in_vain + 1 };
            if in_vain == IN_VAIN {
                let why = run.last_failure();
                run.fail_rest(&format!(
                    "the adapter was given up, {IN_VAIN} times in a row it answered nothing; {why}"
                ));
            }
        }
        let missing = || Outcome::LeftOpen("it was not run".to_owned());
        Ok((0..run.cases.len()).map(|index| run.outcomes.remove(&index).unwrap_or_else(missing)).collect())
    }
}

/// The cases, and how far they are.
struct Run<'a> {
    cases: Vec<(&'a str, &'a Case)>,
    /// By the number of the case.
    outcomes: BTreeMap<usize, Outcome>,
    /// The first case that was not sent to anybody.
    next: usize,
}

impl Run<'_> {
    /// Sends cases and takes answers until none is left.
    ///
    /// # Errors
    /// The cases that were open when the adapter broke; they have failed with the reason.
    fn go_on(&mut self, process: &mut Process, adapter: &Adapter) -> Result<(), Vec<usize>> {
        let mut open: BTreeMap<&str, usize> = BTreeMap::new();
        let mut deadline = Instant::now() + adapter.timeout;
        loop {
            while open.len() < adapter.open
                && let Some((operation, case)) = self.cases.get(self.next).copied()
            {
                process.send(operation, case);
                open.insert(&case.id, self.next);
                self.next += 1;
            }
            if open.is_empty() {
                return Ok(());
            }
            let answered = match process.receive(deadline) {
                Ok(line) => take(&line, &open),
                Err(Silence::TimedOut) => {
                    Err(format!("the adapter gave no answer for {} s", adapter.timeout.as_secs_f64()))
                }
                Err(Silence::Ended) => Err(format!("the adapter ended before it answered ({})", process.status())),
            };
            match answered {
                Ok((index, answer)) => {
                    let Some((_, case)) = self.cases.get(index) else { continue };
                    self.outcomes.insert(index, Outcome::of(case, answer));
                    open.remove(case.id.as_str());
                    deadline = Instant::now() + adapter.timeout;
                }
                Err(why) => {
                    let failed: Vec<usize> = open.into_values().collect();
                    self.outcomes.extend(failed.iter().map(|index| (*index, Outcome::LeftOpen(why.clone()))));
                    return Err(failed);
                }
            }
        }
    }

    fn fail_rest(&mut self, why: &str) {
        let rest = self.next..self.cases.len();
        self.outcomes.extend(rest.map(|index| (index, Outcome::LeftOpen(why.to_owned()))));
        self.next = self.cases.len();
    }

    fn last_failure(&self) -> String {
        match self.outcomes.last_key_value() {
            Some((_, Outcome::LeftOpen(why))) => why.clone(),
            _ => String::new(),
        }
    }
}

/// Reads an answer to one of the open cases.
///
/// # Errors
/// When the line is none. An answer whose case is known is never an error, whatever is wrong with it.
fn take(line: &[u8], open: &BTreeMap<&str, usize>) -> Result<(usize, Answer), String> {
    let shown = || -> String { shown_name(String::from_utf8_lossy(line).trim_end()).chars().take(100).collect() };
    let answer: Map<String, Json> = serde_json::from_slice(line).map_err(|_| {
        format!(
            "the adapter wrote a line that is no answer, \"{}\"; whatever else it says belongs on standard error",
            shown()
        )
    })?;
    let id = answer.get("id").and_then(Json::as_str).unwrap_or_default();
    let Some(index) = open.get(id) else {
        return Err(format!("the adapter answered to a case that is not open: \"{}\"", shown()));
    };
    let found = match (answer.get("output"), answer.get("error"), answer.get("unsupported")) {
        (Some(output), None, None) => Answer::Output(output.clone()),
        (None, Some(error), None) if error.get("code").is_some_and(Json::is_string) => Answer::Error(error.clone()),
        (None, Some(_), None) => Answer::Nothing("its answer has an error without a code".to_owned()),
        (None, None, Some(Json::Bool(true))) => Answer::Unsupported,
        _ => Answer::Nothing("its answer needs exactly one of output, error and unsupported: true".to_owned()),
    };
    Ok((*index, found))
}

enum Silence {
    TimedOut,
    Ended,
}

/// A running adapter. Reading and writing have a thread each, so that neither can block the run.
struct Process {
    child: Child,
    lines: Receiver<Vec<u8>>,
    requests: Option<Sender<Vec<u8>>>,
}

impl Process {
    fn start(adapter: &Adapter) -> Result<Self, String> {
        let mut child = Command::new(&adapter.program)
            .args(&adapter.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| {
                format!(
                    "the adapter {} cannot be started: {error}; check the command behind --",
                    shown_name(&adapter.program)
                )
            })?;
        let (requests, to_write) = channel::<Vec<u8>>();
        let (found, lines) = channel();
        if let Some(mut input) = child.stdin.take() {
            thread::spawn(move || {
                for request in to_write {
                    // Who does not read any more will not answer either.
                    if input.write_all(&request).and_then(|()| input.flush()).is_err() {
                        break;
                    }
                }
            });
        }
        if let Some(output) = child.stdout.take() {
            thread::spawn(move || {
                let mut output = BufReader::new(output);
                loop {
                    let mut line = Vec::new();
                    let read = output.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line);
                    if !matches!(read, Ok(1..)) || found.send(line).is_err() {
                        break;
                    }
                }
            });
        }
        Ok(Self { child, lines, requests: Some(requests) })
    }

    fn send(&self, operation: &str, case: &Case) {
        let quoted = |text: &str| Json::from(text).to_string();
        let (id, operation) = (quoted(&case.id), quoted(operation));
        // An input may stand on several lines in its file.
        let input = case.input.get().replace(['\n', '\r'], " ");
        let request = format!("{{\"id\":{id},\"operation\":{operation},\"input\":{input}}}\n");
        if let Some(requests) = &self.requests {
            let _ = requests.send(request.into_bytes());
        }
    }

    fn receive(&self, deadline: Instant) -> Result<Vec<u8>, Silence> {
        self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())).map_err(|error| match error {
            RecvTimeoutError::Timeout => Silence::TimedOut,
            RecvTimeoutError::Disconnected => Silence::Ended,
        })
    }

    /// How it ended; it has closed its output.
    fn status(&mut self) -> String {
        match self.wait(FAREWELL) {
            Some(status) => status,
            None => "it closed its output and runs on".to_owned(),
        }
    }

    fn wait(&mut self, limit: Duration) -> Option<String> {
        let deadline = Instant::now() + limit;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status.to_string()),
                Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(5)),
                _ => return None,
            }
        }
    }

    /// Closes its input, and stops it when that does not.
    fn end(mut self, in_order: bool) {
        self.requests = None;
        if !in_order || self.wait(FAREWELL).is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
