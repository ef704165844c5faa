//! A policy as text: its name, printed canonically and read back.
//!
//! ```text
//! policy = "none()" | "fixed(" n "," duration ")" | "exponential(" n "," duration ["," duration] ")"
//!          then any of .multiplier(x) .jitter(x) .give_up_after(duration) .wait_in_broker_from(duration), each once
//! ```

use super::draft::{self, Draft, Place};
use super::duration::shortened;
use super::multiplier::{self, Thousandths};
use super::{
    Backoff, DEFAULT_BROKER_THRESHOLD_MS, DurationError, RetryCode, RetryPolicy, RetryPolicyBuilder, RetryProblem,
    RetryProblems,
};
use crate::name::{Delay, nearest};
use std::fmt;
use std::str::FromStr;

const KINDS: [&str; 3] = ["none", "fixed", "exponential"];
const OPTIONS: [&str; 4] = ["multiplier", "jitter", "give_up_after", "wait_in_broker_from"];

impl fmt::Display for RetryPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.backoff() {
            Backoff::None => f.write_str("none()")?,
            Backoff::Fixed { attempts, delay_ms } => write!(f, "fixed({attempts}, {})", Delay(delay_ms))?,
            Backoff::Exponential { attempts, first_ms, cap_ms, multiplier_thousandths } => {
                write!(f, "exponential({attempts}, {}", Delay(first_ms))?;
                if let Some(cap_ms) = cap_ms {
                    write!(f, ", {}", Delay(cap_ms))?;
                }
                f.write_str(")")?;
                if multiplier_thousandths != multiplier::DEFAULT {
                    write!(f, ".multiplier({})", Thousandths(multiplier_thousandths))?;
                }
            }
        }
        if !self.has_default_jitter() {
            write!(f, ".jitter({})", self.jitter())?;
        }
        if let Some(limit_ms) = self.give_up_after_ms() {
            write!(f, ".give_up_after({})", Delay(limit_ms))?;
        }
        if self.threshold_ms() != DEFAULT_BROKER_THRESHOLD_MS {
            write!(f, ".wait_in_broker_from({})", Delay(self.threshold_ms()))?;
        }
        Ok(())
    }
}

impl FromStr for RetryPolicy {
    type Err = RetryProblems;

    /// Reads a policy.
    ///
    /// # Errors
    /// A text that does not follow the grammar gives the one place where it stops doing so; one that does gives every value
    /// that is wrong.
    fn from_str(text: &str) -> Result<Self, RetryProblems> {
        let written = Scanner { text, rest: text }.policy()?;
        let mut draft = written.draft(text);
        for option in &written.options {
            option.apply(&mut draft, text);
        }
        draft.finish()
    }
}

/// A piece of the text.
#[derive(Debug, Clone, Copy)]
struct Token<'a> {
    text: &'a str,
    /// In characters from 1.
    column: usize,
}

/// A token in its text: where a problem is.
struct At<'a> {
    text: &'a str,
    column: usize,
}

impl Place for At<'_> {
    fn locate(&self, mut problem: RetryProblem) -> RetryProblem {
        problem.message = format!("column {} of \"{}\": {}", self.column, shortened(self.text), problem.message);
        problem.with("column", self.column)
    }

    fn locate_in_duration(&self, problem: RetryProblem, error: &DurationError) -> RetryProblem {
        At { text: self.text, column: self.column + error.column() - 1 }.locate(problem)
    }
}

/// A text that follows the grammar; its values are still to be read.
struct Written<'a> {
    kind: Kind<'a>,
    options: Vec<WrittenOption<'a>>,
}

#[derive(Clone, Copy)]
enum Kind<'a> {
    None,
    Fixed { attempts: Token<'a>, delay: Token<'a> },
    Exponential { attempts: Token<'a>, first: Token<'a>, cap: Option<Token<'a>> },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum OptionName {
    Multiplier,
    Jitter,
    GiveUpAfter,
    WaitInBrokerFrom,
}

struct WrittenOption<'a> {
    name: OptionName,
    value: Token<'a>,
}

impl Written<'_> {
    fn draft(&self, text: &str) -> Draft {
        let mut problems = Vec::new();
        let at = |token: Token<'_>| At { text, column: token.column };
        match self.kind {
            Kind::None => Draft::new(RetryPolicy::none().to_builder(), problems),
            Kind::Fixed { attempts, delay } => {
                let attempts = draft::attempts(attempts.text, &at(attempts), &mut problems);
                let delay = draft::duration(delay.text, &at(delay), &mut problems);
                start(RetryPolicy::fixed, attempts, delay, problems)
            }
            Kind::Exponential { attempts, first, cap } => {
                let attempts = draft::attempts(attempts.text, &at(attempts), &mut problems);
                let first = draft::duration(first.text, &at(first), &mut problems);
                let mut draft = start(RetryPolicy::exponential, attempts, first, problems);
                if let Some(cap) = cap {
                    draft.cap(cap.text, &at(cap));
                }
                draft
            }
        }
    }
}

/// A draft of one attempt and 1 ms where these could not be read: nothing else is wrong with such a policy.
pub(super) fn start(
    kind: impl FnOnce(u32, u64) -> RetryPolicyBuilder,
    attempts: Option<u32>,
    delay_ms: Option<u64>,
    problems: Vec<RetryProblem>,
) -> Draft {
    let mut draft = Draft::new(kind(attempts.unwrap_or(1), delay_ms.unwrap_or(1)), problems);
    if attempts.is_none() || delay_ms.is_none() {
        draft.schedule_unknown();
    }
    draft
}

impl WrittenOption<'_> {
    fn apply(&self, draft: &mut Draft, text: &str) {
        let (value, at) = (self.value.text, At { text, column: self.value.column });
        match self.name {
            OptionName::GiveUpAfter => draft.give_up_after(value, &at),
            OptionName::WaitInBrokerFrom => draft.wait_in_broker_from(value, &at),
            OptionName::Multiplier if is_number(value) => draft.multiplier(value, &at),
            OptionName::Jitter if is_number(value) => draft.jitter(value.parse().unwrap_or(f64::INFINITY)),
            OptionName::Multiplier | OptionName::Jitter => {
                let message = format!("\"{}\" is no number", shortened(value));
                let help = "write digits, with a point before decimals, as in 1.5";
                draft.problem(at.locate(RetryProblem::new(RetryCode::PolicySyntax, message, help)));
                if self.name == OptionName::Multiplier {
                    draft.schedule_unknown();
                }
            }
        }
    }
}

/// Digits, perhaps with a point and more digits, perhaps with a minus before (which then is out of range).
fn is_number(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    match unsigned.split_once('.') {
        Some((whole, fraction)) => digits(whole) && digits(fraction),
        None => digits(unsigned),
    }
}

struct Scanner<'a> {
    text: &'a str,
    rest: &'a str,
}

impl<'a> Scanner<'a> {
    fn column(&self) -> usize {
        let read = self.text.len() - self.rest.len();
        self.text.char_indices().take_while(|(index, _)| *index < read).count() + 1
    }

    fn problem(&self, code: RetryCode, column: usize, message: &str, help: &str) -> RetryProblem {
        At { text: self.text, column }.locate(RetryProblem::new(code, message, help))
    }

    fn expected(&self, what: &str) -> RetryProblem {
        let found = match self.rest.chars().next() {
            None => "the end".to_owned(),
            Some(character) => format!("'{}'", character.escape_debug()),
        };
        let message = format!("expected {what}, found {found}");
        let help = "write a policy as in exponential(6, 10s, 5m).give_up_after(2h)";
        self.problem(RetryCode::PolicySyntax, self.column(), &message, help)
    }

    /// Takes what satisfies `accepts`, perhaps nothing.
    fn take(&mut self, accepts: impl Fn(char) -> bool) -> Token<'a> {
        let column = self.column();
        let end = self.rest.find(|character| !accepts(character)).unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        self.rest = rest;
        Token { text, column }
    }

    fn eat(&mut self, character: char) -> bool {
        let rest = self.rest.strip_prefix(character);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn word(&mut self) -> Token<'a> {
        self.take(|character| character.is_alphanumeric() || character == '_')
    }

    fn value(&mut self, what: &str) -> Result<Token<'a>, RetryProblem> {
        let token = self.take(|character| !matches!(character, ',' | '(' | ')') && !character.is_whitespace());
        if token.text.is_empty() { Err(self.expected(what)) } else { Ok(token) }
    }

    fn open(&mut self) -> Result<(), RetryProblem> {
        if self.eat('(') { Ok(()) } else { Err(self.expected("'('")) }
    }

    fn close(&mut self, what: &str) -> Result<(), RetryProblem> {
        if self.eat(')') { Ok(()) } else { Err(self.expected(what)) }
    }

    /// A comma and the blanks that may follow it.
    fn comma(&mut self) -> bool {
        let there = self.eat(',');
        if there {
            self.take(|character| matches!(character, ' ' | '\t'));
        }
        there
    }

    fn policy(mut self) -> Result<Written<'a>, RetryProblem> {
        let kind = self.kind()?;
        let mut options = Vec::new();
        while self.eat('.') {
            options.push(self.option(&options)?);
        }
        if self.rest.is_empty() { Ok(Written { kind, options }) } else { Err(self.expected("'.' or the end")) }
    }

    fn kind(&mut self) -> Result<Kind<'a>, RetryProblem> {
        let word = self.word();
        if word.text.is_empty() {
            return Err(self.expected("none, fixed or exponential"));
        }
        if !KINDS.contains(&word.text) {
            let problem = self.unknown(RetryCode::UnknownPolicy, "policy", word, &KINDS);
            return Err(problem);
        }
        self.open()?;
        let kind = match word.text {
            "none" => Kind::None,
            "fixed" => {
                let (attempts, delay) = self.two_values("the delay")?;
                Kind::Fixed { attempts, delay }
            }
            _ => {
                let (attempts, first) = self.two_values("the first delay")?;
                let cap = if self.comma() { Some(self.value("the cap")?) } else { None };
                Kind::Exponential { attempts, first, cap }
            }
        };
        self.close(if matches!(kind, Kind::Exponential { cap: None, .. }) { "',' or ')'" } else { "')'" })?;
        Ok(kind)
    }

    fn two_values(&mut self, second: &str) -> Result<(Token<'a>, Token<'a>), RetryProblem> {
        let attempts = self.value("the number of attempts")?;
        if !self.comma() {
            return Err(self.expected(&format!("',' and {second}")));
        }
        Ok((attempts, self.value(second)?))
    }

    fn option(&mut self, earlier: &[WrittenOption<'_>]) -> Result<WrittenOption<'a>, RetryProblem> {
        let word = self.word();
        let name = match word.text {
            "multiplier" => OptionName::Multiplier,
            "jitter" => OptionName::Jitter,
            "give_up_after" => OptionName::GiveUpAfter,
            "wait_in_broker_from" => OptionName::WaitInBrokerFrom,
            "" => return Err(self.expected("an option")),
            _ => return Err(self.unknown(RetryCode::UnknownOption, "option", word, &OPTIONS)),
        };
        if earlier.iter().any(|option| option.name == name) {
            let message = format!("option {} stands twice", word.text);
            let problem = self.problem(RetryCode::RepeatedOption, word.column, &message, "keep one of the two");
            return Err(problem.with("option", word.text));
        }
        self.open()?;
        let value = self.value("a value")?;
        self.close("')'")?;
        Ok(WrittenOption { name, value })
    }

    fn unknown(&self, code: RetryCode, what: &str, word: Token<'_>, known: &[&'static str]) -> RetryProblem {
        let near = nearest(word.text, known.iter().copied()).unwrap_or_default();
        let message = format!("unknown {what} \"{}\"", shortened(word.text));
        let help = format!("did you mean {near}? There are {}", known.join(", "));
        self.problem(code, word.column, &message, &help).with("value", shortened(word.text)).with("nearest", near)
    }
}
