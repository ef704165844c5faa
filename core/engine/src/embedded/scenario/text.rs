//! A report for people, and the words for what happens.

use super::report::{MessageReport, QueueReport, Report, StepOutcome, StoryLine};
use crate::embedded::{Happening, Loss, What};
use crate::rabbitmq::Version;
use crate::rabbitmq::changes::DEATHS_BY_AGE;
use std::fmt::{self, Write as _};

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "RabbitMQ {}", self.rabbitmq)?;
        for step in &self.steps {
            let mark = match step.outcome {
                StepOutcome::Done => "      ",
                StepOutcome::Refused => "refused",
                StepOutcome::Failed => "FAILED",
            };
            writeln!(f, "{:>9}  {mark:<7}  {}", time(step.at_ms), step.step)?;
            if let Some(refusal) = &step.refusal {
                writeln!(
                    f,
                    "                    {} {} (closes the {})",
                    refusal.code,
                    shown(&refusal.text),
                    refusal.scope
                )?;
            }
            for detail in &step.details {
                writeln!(f, "                    {detail}")?;
            }
        }
        writeln!(f, "queues after {}:", time(self.ended_at_ms))?;
        for queue in &self.queues {
            writeln!(f, "  {}", queue_line(queue))?;
        }
        writeln!(f, "messages:")?;
        for message in &self.messages {
            write_message(f, message)?;
        }
        for sentence in &self.uncertain {
            writeln!(f, "not known: {sentence}")?;
        }
        match self.failed {
            0 => writeln!(f, "{} steps, none failed", self.steps.len()),
            failed => writeln!(f, "{} steps, {failed} failed", self.steps.len()),
        }
    }
}

fn queue_line(queue: &QueueReport) -> String {
    let mut line = format!("{} ({}): {} ready", shown(&queue.name), queue.r#type, queue.ready.len());
    if !queue.ready.is_empty() {
        let _ = write!(line, " [{}]", names(&queue.ready));
    }
    if queue.unacknowledged > 0 {
        let _ = write!(line, ", {} unacknowledged", queue.unacknowledged);
    }
    if !queue.waiting.is_empty() {
        let _ = write!(line, ", dead letters waiting [{}]", names(&queue.waiting));
    }
    line
}

fn write_message(f: &mut fmt::Formatter<'_>, message: &MessageReport) -> fmt::Result {
    let place =
        if message.queues.is_empty() { "in no queue".to_owned() } else { format!("in {}", names(&message.queues)) };
    writeln!(f, "  {}: {place}", shown(&message.name))?;
    for StoryLine { at_ms, what } in &message.story {
        writeln!(f, "    {:>9}  {what}", time(*at_ms))?;
    }
    if let Some(headers) = message.headers.as_ref().filter(|headers| !headers.is_empty()) {
        for (name, value) in headers.iter() {
            writeln!(f, "               {name}: {}", value.to_json())?;
        }
    }
    Ok(())
}

/// The names of messages or queues, separated by commas; long lists are cut.
pub(super) fn names(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let mut text: Vec<String> = names.iter().take(SHOWN).map(|name| shown(name)).collect();
    if names.len() > SHOWN {
        text.push(format!("and {} more", names.len() - SHOWN));
    }
    text.join(", ")
}

/// A name with its control characters made visible.
pub(super) fn shown(name: &str) -> String {
    name.escape_debug().to_string()
}

fn time(milliseconds: u64) -> String {
    format!("{milliseconds} ms")
}

/// An exchange as sentences name it.
pub(super) fn exchange(name: &str) -> String {
    if name.is_empty() { "the default exchange".to_owned() } else { format!("exchange {}", shown(name)) }
}

/// What happened, in words.
pub(in crate::embedded) fn describe(happening: &Happening) -> String {
    let to = |queues: &[String], opaque: &[String]| {
        let mut text = if queues.is_empty() { "no queue".to_owned() } else { names(queues) };
        if !opaque.is_empty() {
            let _ = write!(text, ", and what {} does with it is not known", names(opaque));
        }
        text
    };
    match &happening.what {
        What::Published { exchange: name, routing_key, queues, opaque } => {
            format!("published to {} [{}]: {}", exchange(name), shown(routing_key), to(queues, opaque))
        }
        What::Returned => "returned to its publisher: 312 NO_ROUTE".to_owned(),
        What::Refused { queue } => format!("refused by {}, which is full", shown(queue)),
        What::Delivered { queue, consumer: Some(tag) } => format!("delivered from {} to {}", shown(queue), shown(tag)),
        What::Delivered { queue, consumer: None } => format!("got from {}", shown(queue)),
        What::Acknowledged { queue } => format!("acknowledged, and gone from {}", shown(queue)),
        What::PutBack { queue } => format!("put back into {}", shown(queue)),
        What::DeadLettered { queue, reason, exchange: name, routing_key, queues, cycles, opaque } => {
            let mut text = format!(
                "{reason} in {}, dead-lettered to {} [{}]: {}",
                shown(queue),
                exchange(name),
                shown(routing_key),
                to(queues, opaque)
            );
            if !cycles.is_empty() {
                let _ = write!(text, "; not to {}: it was there before, and nothing rejected it since", names(cycles));
            }
            text
        }
        What::Lost { queue, why } => match why {
            Loss::Purged => format!("purged from {}", shown(queue)),
            Loss::QueueDeleted => format!("lost with {}, which was deleted", shown(queue)),
            other => format!("lost from {}: {other}", shown(queue)),
        },
        What::Waits { queue, reason } => {
            format!("{reason} in {}, and waits there until its targets take it", shown(queue))
        }
        What::QueueExpired { queue } => format!("{} expired", shown(queue)),
    }
}

/// What happened, in words, and what a later version would do otherwise.
pub(super) fn told_by(version: Version, happening: &Happening) -> String {
    let mut text = describe(happening);
    if let What::DeadLettered { cycles, .. } = &happening.what
        && !cycles.is_empty()
        && !DEATHS_BY_AGE.holds(version)
    {
        text.push_str(" (RabbitMQ before 3.13.3 does not look at deaths by age, and may overlook a rejection)");
    }
    text
}

/// A story with what repeats itself told once: `delivered …, put back …` 200 times is two lines.
pub(super) fn told(story: Vec<StoryLine>) -> Vec<StoryLine> {
    let mut out: Vec<StoryLine> = Vec::new();
    let mut at = 0;
    while let Some(first) = story.get(at) {
        let same = |a: usize, b: usize| matches!((story.get(a), story.get(b)), (Some(a), Some(b)) if a.what == b.what);
        let times = (1..).take_while(|times| same(at, at + 2 * times) && same(at + 1, at + 2 * times + 1)).count() + 1;
        if times > 2 {
            let second = story.get(at + 1).map_or("", |line| line.what.as_str());
            out.push(StoryLine { at_ms: first.at_ms, what: format!("{times} times: {}, {second}", first.what) });
            at += 2 * times;
        } else {
            out.push(first.clone());
            at += 1;
        }
    }
    out
}
