#!/usr/bin/env python3
"""Breaks one rule of the engine after the other and shows that fixtures notice: each mutant has to fail at least one case.

    python3 conformance/mutate.py                  # all
    python3 conformance/mutate.py jitter topic     # those whose rule or file has one of these words

A copy of the engine is built once, with every mutant in it behind a switch; then the fixtures run once for each mutant. The copy
lies below the system's temporary folder, and nothing here is changed. A mutant whose text is no longer found exactly once in its
file is stale, and the check says so and fails.
"""

import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

MANIFEST = """
[package]
name = "run-fixtures"
version = "0.0.0"
edition = "2024"
publish = false

[dependencies]
acemq-core.workspace = true
serde_json.workspace = true
"""

SWITCH = """
/// Which mutant is awake; 0 is none.
pub static MUTANT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

pub(crate) fn mutant(number: usize) -> bool {
    MUTANT.load(std::sync::atomic::Ordering::Relaxed) == number
}
"""

RUNNER = """
use acemq_core::api::{self, Index, Suite};
use std::fs::read_to_string;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (folder, mutant) = (arguments.next().unwrap(), arguments.next().unwrap());
    acemq_core::MUTANT.store(mutant.parse().unwrap(), std::sync::atomic::Ordering::Relaxed);
    std::panic::set_hook(Box::new(|_| {}));
    let index: Index = serde_json::from_str(&read_to_string(format!("{folder}/index.json")).unwrap()).unwrap();
    let (mut cases, mut failed, mut first) = (0, 0, String::new());
    for entry in &index.suites {
        let suite: Suite = serde_json::from_str(&read_to_string(format!("{folder}/{}", entry.file)).unwrap()).unwrap();
        for case in &suite.cases {
            cases += 1;
            let right = std::panic::catch_unwind(|| match api::call(&suite.operation, case.input.get()) {
                Ok(output) => case.judge(Ok(&serde_json::from_str(&output).unwrap())).is_ok(),
                Err(failure) => case.judge(Err(&serde_json::to_value(&failure).unwrap())).is_ok(),
            });
            if !right.unwrap_or(false) {
                failed += 1;
                if first.is_empty() {
                    first = format!(", {} first", case.id);
                }
            }
        }
    }
    println!("{failed} of {cases} cases fail{first}");
    std::process::exit(i32::from(failed > 0));
}
"""

# What has to change so that a switch can stand there at all.
PREPARATIONS = [("retry/policy.rs", "const fn waits_in_broker", "fn waits_in_broker")]

# The rule, the file below core/engine/src, the text that holds it, and the text with the switch `MUTANT`.
MUTANTS = [
    # Names.
    ("a name has at most 255 bytes", "name.rs", "name.len() > MAX_NAME_BYTES", "name.len() > MAX_NAME_BYTES + usize::from(MUTANT)"),
    ("a reserved name is refused", "name.rs", "name.starts_with(RESERVED_PREFIX).then_some", "(!MUTANT && name.starts_with(RESERVED_PREFIX)).then_some"),
    ("a line break is refused", "name.rs", "name.contains(['\\r', '\\n'])", "name.contains(['\\r', if MUTANT { '\\r' } else { '\\n' }])"),
    ("dead letters are in .dlq", "name.rs", "derive(queue, DEAD_LETTER_SUFFIX)", 'derive(queue, if MUTANT { ".dead" } else { DEAD_LETTER_SUFFIX })'),
    ("what is set aside is in .parked", "name.rs", "derive(queue, PARKED_SUFFIX)", 'derive(queue, if MUTANT { ".park" } else { PARKED_SUFFIX })'),
    ("no rung of no delay", "name.rs", "if delay_ms == 0 {\n        return Err(derived_error", "if delay_ms == 0 && !MUTANT {\n        return Err(derived_error"),
    # Retries.
    ("entry i+1 is entry i times m, cut to microseconds", "retry/schedule.rs", "exact_us * u128::from(thousandths) / 1_000", "exact_us * u128::from(thousandths) / if MUTANT { 1_001 } else { 1_000 }"),
    ("fractions of a millisecond are carried on", "retry/schedule.rs", "exact_us = next_us;", "exact_us = if MUTANT { (next_us / 1_000 * 1_000).max(exact_us + 1_000) } else { next_us };"),
    ("growth stops at the broker's limit", "retry/schedule.rs", ".min(LIMIT_US)", ".min(if MUTANT { u128::MAX / 2_000 } else { LIMIT_US })"),
    ("attempt 0 counts as 1", "retry/decision.rs", "attempt.saturating_sub(1)", "if MUTANT { attempt.wrapping_sub(1) } else { attempt.saturating_sub(1) }"),
    ("an age equal to the limit is too old", "retry/decision.rs", "&& age >= limit", "&& if MUTANT { age > limit } else { age >= limit }"),
    ("jitter goes both ways", "retry/decision.rs", "(2.0 * u - 1.0)", "(2.0 * u - if MUTANT { 0.0 } else { 1.0 })"),
    ("jitter is raised to 1 ms", "retry/decision.rs", "cut.max(1)", "cut.max(u64::from(!MUTANT))"),
    ("no wait stays none", "retry/decision.rs", "if wait_ms == 0 || factor == 0.0 {", "if (wait_ms == 0 && !MUTANT) || factor == 0.0 {"),
    ("a wait in the broker is not jittered", "retry/decision.rs", "Decision::Retry { wait_ms, in_broker: true }\n        } else", "Decision::Retry { wait_ms: if MUTANT { jittered(wait_ms, self.jitter(), u) } else { wait_ms }, in_broker: true }\n        } else"),
    ("the text of the reason to give up", "retry/decision.rs", 'format!("exhausted {} attempts", self.max_attempts())', 'format!("{} {} attempts", if MUTANT { "gave up after" } else { "exhausted" }, self.max_attempts())'),
    ("the threshold itself is in the broker", "retry/policy.rs", "wait_ms >= self.threshold_ms", "(wait_ms > self.threshold_ms || (wait_ms == self.threshold_ms && !MUTANT))"),
    ("a threshold of 0 means never", "retry/policy.rs", "self.threshold_ms > 0 && wait_ms > 0", "(self.threshold_ms > 0 || MUTANT) && wait_ms > 0"),
    ("a rung may be exactly long enough", "retry/policy.rs", ".find(|rung| **rung >= delay_ms)", ".find(|rung| **rung >= delay_ms + u64::from(MUTANT))"),
    ("beyond the longest rung it is the longest", "retry/policy.rs", ".or(longest)", ".or(if MUTANT { None } else { longest })"),
    ("a rung leads back under the queue's name", "retry/ladder.rs", '("x-dead-letter-routing-key", Value::text(source))', '("x-dead-letter-routing-key", Value::text(if MUTANT { name.as_str() } else { source }))'),
    ("a rung's TTL is its delay", "retry/ladder.rs", "i64::try_from(delay_ms)", "i64::try_from(if MUTANT { delay_ms / 1_000 * 1_000 } else { delay_ms })"),
    ("no rungs, no exchange", "retry/ladder.rs", "(!self.rungs.is_empty()).then(|| ExchangeDeclaration", "(MUTANT || !self.rungs.is_empty()).then(|| ExchangeDeclaration"),
    # Tables, types, fingerprints.
    ("a durable queue is quorum", "topology/compile/queues.rs", "None if flags.is_empty() => QueueType::Quorum,", "None if flags.is_empty() && !MUTANT => QueueType::Quorum,"),
    ("two types are a conflict", "topology/compile/queues.rs", "&& asked != by_hand\n", "&& asked != by_hand && !MUTANT\n"),
    ("a quorum queue is durable, shared and permanent", "topology/compile/queues.rs", "        if !flags.is_empty() {\n            let sentence", "        if !flags.is_empty() && !MUTANT {\n            let sentence"),
    ("classic sends no type", "topology/compile/queues.rs", "if kind != QueueType::Classic {\n        if !flags", "if kind != QueueType::Classic || MUTANT {\n        if !flags"),
    ("a stream has no dead letters", "topology/compile/queues.rs", "if wants_dead_letters && is_stream {", "if wants_dead_letters && is_stream && !MUTANT {"),
    ("dead letters by hand are a conflict", "topology/compile/queues.rs", "(conflicting.len() > 1).then(", "(conflicting.len() > 1 && !MUTANT).then("),
    ("dead letters go to .dlq by its name", "topology/compile/queues.rs", "wish.arguments.insert(DLK, dead.name.as_str());", "let key = if MUTANT { wish.name.clone() } else { dead.name.clone() };\n                wish.arguments.insert(DLK, key.as_str());"),
    ("classic is left out of canonical lines", "rabbitmq/declaration.rs", 'if arguments.get("x-queue-type").and_then(Value::as_text) == Some("classic") {', 'if !MUTANT && arguments.get("x-queue-type").and_then(Value::as_text) == Some("classic") {'),
    ("integers of every width are alike in canonical lines", "value/canonical.rs", "if let Some(number) = value.as_integer() {", "if let Some(number) = value.as_integer().filter(|_| !(MUTANT && matches!(value, Value::I32(_)))) {"),
    ("control characters are escaped", "value/canonical.rs", "c if u32::from(c) < 0x20 =>", "c if u32::from(c) < 0x20 && !MUTANT =>"),
    # Equivalence, predictions, refusals.
    ("absent equals classic", "rabbitmq/equivalence.rs", 'if name == "x-queue-type" && only.as_text() == Some("classic") =>', 'if !MUTANT && name == "x-queue-type" && only.as_text() == Some("classic") =>'),
    ("integer widths are one class", "rabbitmq/equivalence.rs", "(Some(a), Some(b)) => a == b,\n            _ => a == b,", "(Some(number), Some(other)) => number == other && !(MUTANT && a != b),\n            _ => a == b,"),
    ("a flag is a difference", "rabbitmq/equivalence.rs", 'property(&mut differences, "durable", stored_durable(request), stored_durable(stored));', 'if !MUTANT {\n        property(&mut differences, "durable", stored_durable(request), stored_durable(stored));\n    }'),
    ("what no broker compares is said to be so", "rabbitmq/equivalence.rs", "add(name, false);", "add(name, MUTANT);"),
    ("a replicated default fits durable shared queues only", "rabbitmq/predict/queue.rs", "let fits = !replicated || ", "let fits = MUTANT || !replicated || "),
    ("exclusive is compared before durable", "rabbitmq/predict/redeclare.rs", "    if !owned {\n", "    if !owned && !MUTANT {\n"),
    ("the words of an inequivalence", "rabbitmq/predict/redeclare.rs", '.plain(": received ")', '.plain(if MUTANT { ": got " } else { ": received " })'),
    ("a text is cut at 255", "rabbitmq/predict/reply.rs", "if whole.len() <= LIMIT && whole.is_ascii() {", "if (whole.len() <= LIMIT || MUTANT) && whole.is_ascii() {"),
    ("a missing right is said by its name", "rabbitmq/predict/conditions.rs", "if CHARACTER_TEXTS.holds(self.version) {", "if CHARACTER_TEXTS.holds(self.version) && !MUTANT {"),
    # Plans.
    ("no answer is no agreement", "plan/queues.rs", "return action.unknown(Reason::of_failure(&why), why);", "return if MUTANT { action.judge(Verdict::Present) } else { action.unknown(Reason::of_failure(&why), why) };"),
    ("the walk takes over what the broker has", "plan/queues.rs", "(None, _) => false,\n        };", "(None, _) => false,\n        } && !MUTANT;"),
    ("a right that is missing is no absence", "plan/queues.rs", "RefusalClass::AccessRefused if !walk.was_there => {", "RefusalClass::AccessRefused if !walk.was_there && !MUTANT => {"),
    ("what was not asked is shown as what would be sent", "plan/render.rs", "Verdict::Unknown if !asked(action)", "Verdict::Unknown if !MUTANT && !asked(action)"),
    ("drift lines are sorted by name", "plan/render.rs", "drifted.sort_by(|a, b| (a.object.name(), a.object.kind()).cmp(&(b.object.name(), b.object.kind())));", "if !MUTANT {\n            drifted.sort_by(|a, b| (a.object.name(), a.object.kind()).cmp(&(b.object.name(), b.object.kind())));\n        }"),
    ("an apply refuses before anything is declared", "plan/apply.rs", "Verdict::Drift => !(settings", "Verdict::Drift => !MUTANT && !(settings"),
    # Topics and routing.
    ("* is exactly one word", "topic/pattern.rs", 'wanted == b"*" || wanted == word', '(wanted == b"*" && !MUTANT) || wanted == word'),
    ("# is zero words too", "topic/pattern.rs", "if pattern.is_done() {\n                    return true;", "if pattern.is_done() {\n                    return !MUTANT || !key.is_done();"),
    ("the key ends where the pattern ends", "topic/pattern.rs", "None if key.is_done() => return true,", "None if MUTANT || key.is_done() => return true,"),
    ("any of the criteria", "routing/headers.rs", "if HeadersMatch::of(arguments).is_any() {", "if HeadersMatch::of(arguments).is_any() && !MUTANT {"),
    ("x- arguments are no criteria", "routing/headers.rs", 'Self::All | Self::Any => !argument.starts_with("x-"),', 'Self::All | Self::Any => !argument.starts_with("x-") || (MUTANT && argument != X_MATCH),'),
    ("a void asks only that the header is there", "routing/headers.rs", "if *wanted == Value::Void {", "if *wanted == Value::Void && !MUTANT {"),
    ("an alternate exchange is used when nothing fits", "routing/router.rs", "if reached.is_empty() {\n                next.extend(exchange.alternate());", "if reached.is_empty() != MUTANT {\n                next.extend(exchange.alternate());"),
    # The embedded broker.
    ("a full queue may be exactly full", "embedded/queue.rs", "max_length.is_some_and(|limit| length > limit)", "max_length.is_some_and(|limit| length > limit || (MUTANT && length == limit))"),
    ("a delivery limit may be reached", "embedded/settle.rs", "i64::from(counted) > limit", "i64::from(counted) > limit - i64::from(MUTANT)"),
    ("what comes back is marked", "embedded/settle.rs", "entry.returned = entry.returned.saturating_add(1);", "entry.returned = entry.returned.saturating_add(u32::from(!MUTANT));"),
    ("circles without a rejection end", "embedded/publish.rs", "death::is_cycle(version, message, reason, queue)", "!MUTANT && death::is_cycle(version, message, reason, queue)"),
    ("mandatory messages come back", "embedded/publish.rs", "let returned = mandatory && queues.is_empty();", "let returned = !MUTANT && mandatory && queues.is_empty();"),
    # Policies.
    ("the highest priority wins", "policy/choose.rs", "std::cmp::Reverse(compiled.policy.priority)", "std::cmp::Reverse(if MUTANT { -compiled.policy.priority } else { compiled.policy.priority })"),
    ("one foreign key keeps a policy off", "policy/choose.rs", "if keys.is_empty() { Fit::Yes }", "if keys.is_empty() || MUTANT { Fit::Yes }"),
]


def copy(folder):
    """A workspace of the engine, with every mutant asleep in it, and the runner. Gives the mutants whose text is not there."""
    workspace = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    start, end = workspace.index("members = ["), workspace.index("]", workspace.index("members = ["))
    workspace = workspace[:start] + 'members = ["core/engine", "run-fixtures"' + workspace[end:]
    (folder / "Cargo.toml").write_text(workspace, encoding="utf-8")
    shutil.copy(ROOT / "Cargo.lock", folder)
    engine = folder / "core" / "engine"
    shutil.copytree(ROOT / "core" / "engine", engine)
    shutil.copytree(ROOT / "conformance", folder / "conformance")
    (folder / "run-fixtures" / "src").mkdir(parents=True)
    (folder / "run-fixtures" / "Cargo.toml").write_text(MANIFEST, encoding="utf-8")
    (folder / "run-fixtures" / "src" / "main.rs").write_text(RUNNER, encoding="utf-8")
    library = engine / "src" / "lib.rs"
    library.write_text(library.read_text(encoding="utf-8") + SWITCH, encoding="utf-8")
    for file, old, new in PREPARATIONS:
        path = engine / "src" / file
        path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    stale = []
    for number, (rule, file, old, new) in enumerate(MUTANTS, 1):
        path = engine / "src" / file
        # Tests stand behind the code in a file.
        code, *tests = path.read_text(encoding="utf-8").split("#[cfg(test)]", 1)
        if code.count(old) != 1:
            stale.append(f"{rule} ({file}): its text is there {code.count(old)} times")
            continue
        code = code.replace(old, new.replace("MUTANT", f"crate::mutant({number})"))
        path.write_text("#[cfg(test)]".join([code, *tests]), encoding="utf-8")
    return stale


def within_limits():
    """A mutant that grows without end is to end by itself."""
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))


def run(folder, number):
    """Whether every case passes, and what is said."""
    program = folder / "target" / "debug" / "run-fixtures"
    try:
        command = [program, folder / "conformance", str(number)]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=300, preexec_fn=within_limits)
    except subprocess.TimeoutExpired:
        return False, "it does not end"
    return ran.returncode == 0, ran.stdout.strip() or "it ends without a word"


def main():
    words = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="acemq-mutants-") as name:
        folder = pathlib.Path(name)
        stale = copy(folder)
        for line in stale:
            print(f"STALE {line}")
        built = subprocess.run(["cargo", "build", "-q", "-p", "run-fixtures", "--target-dir", folder / "target"], cwd=folder)
        if built.returncode != 0:
            return 1
        passes, said = run(folder, 0)
        print(f"unchanged: {said}", flush=True)
        if not passes:
            return 1
        survived, count = [], 0
        for number, (rule, file, _, _) in enumerate(MUTANTS, 1):
            if words and not any(word in rule or word in file for word in words):
                continue
            count += 1
            passes, said = run(folder, number)
            print(f"{'SURVIVED' if passes else 'noticed'}  {rule} ({file}): {said}", flush=True)
            survived += [rule] * passes
    print(f"{count - len(survived)} of {count} mutants noticed, {len(stale)} stale")
    return 1 if survived or stale else 0


if __name__ == "__main__":
    sys.exit(main())
