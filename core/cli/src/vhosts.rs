//! One command in several vhosts: which they are, a result of its own for each, and what they come to together.
//!
//! A vhost that cannot be had is a result like any other: the rest is still done. What is said about none of them, such as a
//! pattern that fits no vhost, ends the command.

use crate::broker::{Target, definitions_file};
use crate::cli::{BrokerArguments, VhostsArgument};
use crate::failure::{BAD_INPUT, CREATIONS, DIFFERS, Failure, NO_BROKER, STOPPED, UNANSWERED};
use crate::live::Address;
use crate::output::{Report, json};
use acemq_core::plan::{Plan, PlanDocument};
use acemq_core::topology::shown_name;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// One vhost of several, and where it is.
#[derive(Clone)]
pub struct Choice {
    /// Its name.
    pub vhost: String,
    /// The vhost, or why it cannot be had.
    pub target: Result<Target, Failure>,
}

/// The vhosts that `--vhosts` means, by name; `None` where it is not given.
pub fn chosen(several: &VhostsArgument, arguments: &BrokerArguments) -> Result<Option<Vec<Choice>>, Failure> {
    let patterns = &several.vhosts;
    if patterns.is_empty() {
        return Ok(None);
    }
    let broker = arguments.broker.as_deref().unwrap_or_default();
    let names = if arguments.has_management() {
        select(patterns, &Address::read(None, arguments)?.vhosts()?)?
    } else if broker.starts_with("amqp://") || broker.starts_with("amqps://") {
        if patterns.iter().any(|pattern| pattern.contains('*')) {
            return Err(Failure::input(
                "AMQP cannot list vhosts; name them one by one, or give --management beside amqp://",
            ));
        }
        select(patterns, &[])?
    } else if let Some(reference) = broker.strip_prefix("definitions:") {
        let file = definitions_file(reference, arguments.rabbitmq)?;
        if file.vhost.is_some() {
            return Err(Failure::input("--vhosts and ?vhost= both choose a vhost; give one of them"));
        }
        let there: Vec<String> = file.definitions.vhosts().into_iter().map(str::to_owned).collect();
        let state = |vhost: &str| file.state(Some(vhost)).map(|state| Target::Definitions(Box::new(state)));
        let names = select(patterns, &there)?;
        return Ok(Some(choices(names, state)));
    } else {
        return Err(Failure::input(
            "--vhosts goes with --management, amqp://… or definitions:FILE; the embedded broker holds one vhost",
        ));
    };
    Ok(Some(choices(names, |vhost| Address::of_vhost(arguments, vhost).map(|address| Target::Real(Box::new(address))))))
}

fn choices(names: Vec<String>, target: impl Fn(&str) -> Result<Target, Failure>) -> Vec<Choice> {
    names.into_iter().map(|vhost| Choice { target: target(&vhost), vhost }).collect()
}

/// `1 vhost`, `3 vhosts`.
pub fn how_many(count: usize) -> String {
    if count == 1 { "1 vhost".to_owned() } else { format!("{count} vhosts") }
}

/// The names that the patterns mean, sorted, each once. A pattern without `*` is a name, whether it is there or not.
pub fn select(patterns: &[String], there: &[String]) -> Result<Vec<String>, Failure> {
    let mut names = Vec::new();
    for pattern in patterns {
        if !pattern.contains('*') || there.contains(pattern) {
            names.push(pattern.clone());
            continue;
        }
        let before = names.len();
        names.extend(there.iter().filter(|vhost| fits(pattern, vhost)).cloned());
        if names.len() == before {
            let shown: Vec<_> = there.iter().take(10).map(|vhost| shown_name(vhost)).collect();
            let more = if there.len() > shown.len() { ", …" } else { "" };
            return Err(Failure::broker(format!(
                "no vhost fits \"{}\"; there are {}{more}",
                shown_name(pattern),
                if shown.is_empty() { "none that this user may see".to_owned() } else { shown.join(", ") }
            )));
        }
    }
    names.sort_unstable();
    names.dedup();
    Ok(names)
}

/// Whether `*`, which stands for any text, makes the pattern the name; everything else stands for itself.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(start) else { return false };
    let mut pieces: Vec<&str> = rest.split('*').collect();
    let end = pieces.pop().unwrap_or_default();
    for piece in pieces {
        let Some(at) = left.find(piece) else { return false };
        left = left.get(at + piece.len()..).unwrap_or_default();
    }
    left.ends_with(end)
}

/// How a command ended in one vhost.
pub struct Outcome {
    pub plan: Plan,
    /// Exit code.
    pub code: u8,
    /// What a report says after the plan.
    pub closing: String,
    /// Why not everything could be done.
    pub error: Option<String>,
}

impl Outcome {
    /// A plan and nothing more to say.
    pub const fn new(plan: Plan, code: u8) -> Self {
        Self { plan, code, closing: String::new(), error: None }
    }
}

/// What a command found out in one vhost, as the vhosts' document shows it.
pub trait Ended {
    /// The property that it stands in.
    const PROPERTY: &'static str;
    /// What stands there.
    type Document<'a>: Serialize
    where
        Self: 'a;

    /// Exit code.
    fn code(&self) -> u8;
    /// What the command prints as JSON for that vhost alone.
    fn document(&self) -> Self::Document<'_>;
    /// Why not everything could be done.
    fn error(&self) -> Option<&str> {
        None
    }
}

impl Ended for Outcome {
    const PROPERTY: &'static str = "plan";
    type Document<'a> = PlanDocument<'a>;

    fn code(&self) -> u8 {
        self.code
    }

    fn document(&self) -> PlanDocument<'_> {
        self.plan.to_document()
    }

    fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }
}

/// One vhost and how it ended there.
pub struct Found<T = Outcome> {
    /// Its name.
    pub vhost: String,
    /// How it ended, or why it could not be had.
    pub outcome: Result<T, Failure>,
}

impl<T: Ended> Found<T> {
    /// Exit code.
    pub fn code(&self) -> u8 {
        match &self.outcome {
            Ok(outcome) => outcome.code(),
            Err(failure) => failure.code,
        }
    }
}

/// Does the same in each vhost, one after the other, for as long as the exit code `goes_on`.
pub fn in_each(
    choices: Vec<Choice>,
    goes_on: impl Fn(u8) -> bool,
    what: impl Fn(Target) -> Result<Outcome, Failure>,
) -> Vec<Found> {
    let mut over = false;
    let found = |Choice { vhost, target }| {
        let not_begun = || Failure::with_code("not begun, because the vhost before was not finished", STOPPED);
        let outcome = if over { Err(not_begun()) } else { target.and_then(&what) };
        let found = Found { vhost, outcome };
        over |= !goes_on(found.code());
        found
    };
    choices.into_iter().map(found).collect()
}

/// A result that leaves the others to be found out: everything but a stop by the user.
pub const fn unless_stopped(code: u8) -> bool {
    code != STOPPED
}

/// The result of all: a block for each vhost that `text` has something to say about, and which vhosts are how.
pub fn report(found: &[Found], is_json: bool, text: impl Fn(&Outcome) -> String) -> Report {
    if is_json {
        return document(found);
    }
    let mut out = String::new();
    for Found { vhost, outcome } in found {
        let block = match outcome {
            Ok(outcome) => text(outcome),
            Err(failure) => format!("{}\n", failure.message),
        };
        if !block.is_empty() {
            let _ = writeln!(out, "vhost {}\n{block}", shown_name(vhost));
        }
    }
    let _ = writeln!(out, "{}", how_many(found.len()));
    for (code, words) in OUTCOMES {
        let names: Vec<_> =
            found.iter().filter(|found| found.code() == code).map(|found| shown_name(&found.vhost)).collect();
        if !names.is_empty() {
            let _ = writeln!(out, "  {words}: {}", names.join(", "));
        }
    }
    Report::done(out).with_code(code_of(found))
}

/// The result of all as `acemq.vhosts/1`.
pub fn document<T: Ended>(found: &[Found<T>]) -> Report {
    let exit_code = code_of(found);
    let vhosts = found.iter().map(VhostDocument::of).collect();
    Report::done(json(&VhostsDocument { format: "acemq.vhosts/1", vhosts, exit_code })).with_code(exit_code)
}

/// The exit code that stands for all.
pub fn code_of<T: Ended>(found: &[Found<T>]) -> u8 {
    found.iter().map(Found::code).min_by_key(|code| precedence(*code)).unwrap_or(0)
}

/// What an exit code says about a vhost.
const OUTCOMES: [(u8, &str); 7] = [
    (0, "nothing to do"),
    (CREATIONS, "only creations are left"),
    (DIFFERS, "differs"),
    (UNANSWERED, "not everything was answered"),
    (STOPPED, "stopped half-way"),
    (NO_BROKER, "cannot be had"),
    (BAD_INPUT, "bad input"),
];

/// Which exit code stands for all when several hold: 1, 5, 6, 3, 4, 2.
pub fn precedence(code: u8) -> usize {
    let order = [BAD_INPUT, NO_BROKER, STOPPED, DIFFERS, UNANSWERED, CREATIONS];
    order.iter().position(|known| *known == code).unwrap_or(order.len())
}

#[derive(Serialize)]
struct VhostsDocument<'a, D: Serialize> {
    format: &'static str,
    vhosts: Vec<VhostDocument<'a, D>>,
    exit_code: u8,
}

#[derive(Serialize)]
struct VhostDocument<'a, D: Serialize> {
    vhost: &'a str,
    exit_code: u8,
    /// One property, which the command names.
    #[serde(flatten)]
    document: BTreeMap<&'static str, Option<D>>,
    error: Option<&'a str>,
}

impl<'a, D: Serialize> VhostDocument<'a, D> {
    fn of<T: Ended<Document<'a> = D>>(found: &'a Found<T>) -> Self {
        let (document, error) = match &found.outcome {
            Ok(outcome) => (Some(outcome.document()), outcome.error()),
            Err(failure) => (None, Some(failure.message.as_str())),
        };
        let document = BTreeMap::from([(T::PROPERTY, document)]);
        Self { vhost: &found.vhost, exit_code: found.code(), document, error }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, fitting, others) in [
            ("*", &["", "/", "a/b"][..], &[][..]),
            ("tenant-*", &["tenant-", "tenant-a", "tenant-*"], &["tenant", "a-tenant-b"]),
            ("*-eu", &["-eu", "shop-eu", "eu-eu"], &["shop-eu-1", "eu"]),
            ("a*b*c", &["abc", "a-b-b-c"], &["ac", "acb", "abcd"]),
            ("ab*ba", &["abba", "ab-ba"], &["aba"]),
            ("a.b", &["a.b"], &["axb"]),
        ] {
            assert!(fitting.iter().all(|name| fits(pattern, name)), "{pattern}");
            assert!(others.iter().all(|name| !fits(pattern, name)), "{pattern}");
        }
    }

    #[test]
    fn each_vhost_is_chosen_once_and_a_name_need_not_be_there() {
        let there = ["b", "a1", "a2"].map(str::to_owned);
        let select = |patterns: &[&str]| {
            let patterns: Vec<_> = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
            select(&patterns, &there)
        };
        assert_eq!(select(&["b", "a*", "a1"]).unwrap(), ["a1", "a2", "b"]);
        assert_eq!(select(&["c"]).unwrap(), ["c"]);
        let error = select(&["a*", "c*"]).unwrap_err();
        assert_eq!(error.message, "acemq: no vhost fits \"c*\"; there are b, a1, a2");
        assert_eq!(error.code, NO_BROKER);
    }

    #[test]
    fn a_stop_is_one_for_all_and_another_failure_is_not() {
        let choice = |vhost: &str, code| Choice {
            vhost: vhost.to_owned(),
            target: Err(Failure::with_code("it went wrong", code)),
        };
        let choices = vec![choice("a", NO_BROKER), choice("b", STOPPED), choice("c", NO_BROKER)];
        let found = in_each(choices, unless_stopped, |_| unreachable!("no target can be had"));
        let report = report(&found, false, |_| String::new());
        assert_eq!(
            report.text,
            "vhost a\nacemq: it went wrong\n\nvhost b\nacemq: it went wrong\n\nvhost c\nacemq: not begun, because the vhost \
             before was not finished\n\n3 vhosts\n  stopped half-way: b, c\n  cannot be had: a\n"
        );
        assert_eq!(report.code, NO_BROKER);
    }

    #[test]
    fn the_gravest_result_stands_for_all() {
        let mut codes = [0, 2, 4, 3, 6, 5, 1];
        codes.sort_by_key(|code| precedence(*code));
        assert_eq!(codes, [1, 5, 6, 3, 4, 2, 0]);
    }
}
