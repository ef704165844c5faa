#!/usr/bin/env python3
"""Breaks one rule of the engine after the other and shows that fixtures notice: each mutant has to fail at least one case.

    python3 conformance/mutate.py                  # all, about a minute for four of them
    python3 conformance/mutate.py jitter topic     # those whose name or file has one of these words

The mutants live in a copy below the system's temporary folder; nothing here is changed. A mutant whose text is no longer found
exactly once in its file is stale, which counts as a failure too.
"""

import pathlib
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

RUNNER = """
use acemq_core::api::{self, Index, Suite};
use std::fs::read_to_string;

fn main() {
    let folder = std::env::args().nth(1).unwrap();
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
                    first = format!(", first {}", case.id);
                }
            }
        }
    }
    println!("{failed} of {cases} cases fail{first}");
    std::process::exit(i32::from(failed > 0));
}
"""

# The rule, the file below core/engine/src, the text that holds it, and what breaks it.
MUTANTS = [
    # 1. Names.
    ("a name may have 256 bytes", "name.rs", "pub const MAX_NAME_BYTES: usize = 255;", "pub const MAX_NAME_BYTES: usize = 256;"),
    ("the dead-letter suffix", "name.rs", 'DEAD_LETTER_SUFFIX: &str = ".dlq"', 'DEAD_LETTER_SUFFIX: &str = ".dead"'),
    ("the parked suffix", "name.rs", '".parked"', '".park"'),
    # 3. Retries.
    ("entry i+1 is entry i times m", "retry/schedule.rs", "exact_us * u128::from(thousandths) / 1_000", "exact_us * u128::from(thousandths) / 1_001"),
    ("fractions of a millisecond are carried on", "retry/schedule.rs", "let mut exact_us = u128::from(first_ms) * 1_000;", "let mut exact_us = u128::from(first_ms) * 1_000 / 1_000 * 999;"),
    ("attempt 0 counts as 1", "retry/decision.rs", "attempt.saturating_sub(1)", "attempt.wrapping_sub(1)"),
    ("an age equal to the limit is too old", "retry/decision.rs", "age >= limit", "age > limit"),
    ("jitter is (2u - 1)", "retry/decision.rs", "(1.0 + (2.0 * u - 1.0) * factor)", "(1.0 + (2.0 * u) * factor)"),
    ("jitter is raised to 1 ms", "retry/decision.rs", "cut.max(1)", "cut"),
    ("no wait stays none", "retry/decision.rs", "if wait_ms == 0 || factor == 0.0 {", "if factor == 0.0 {"),
    ("broker waits are not jittered", "retry/decision.rs", "Decision::Retry { wait_ms, in_broker: true }\n        } else", "Decision::Retry { wait_ms: jittered(wait_ms, self.jitter(), u), in_broker: true }\n        } else"),
    ("the reason to give up", "retry/decision.rs", 'format!("exhausted {} attempts"', 'format!("gave up after {} attempts"'),
    ("the threshold itself is in the broker", "retry/policy.rs", "wait_ms > 0 && wait_ms >= self.threshold_ms", "wait_ms > 0 && wait_ms > self.threshold_ms"),
    ("a threshold of 0 means never", "retry/policy.rs", "self.threshold_ms > 0 && wait_ms > 0", "wait_ms > 0"),
    ("a rung is long enough", "retry/policy.rs", ".find(|rung| **rung >= delay_ms)", ".find(|rung| **rung > delay_ms)"),
    ("beyond the longest rung it is the longest", "retry/policy.rs", ".or(longest)", ".or(None)"),
    ("a rung comes back under the queue's name", "retry/ladder.rs", '("x-dead-letter-routing-key", Value::text(source))', '("x-dead-letter-routing-key", Value::text(name.as_str()))'),
    ("a rung's TTL is its delay", "retry/ladder.rs", "i64::try_from(delay_ms)", "i64::try_from(delay_ms / 1000 * 1000)"),
    ("no rungs, no exchange", "retry/ladder.rs", "(!self.rungs.is_empty()).then(|| ExchangeDeclaration", "true.then(|| ExchangeDeclaration"),
    # 2. Tables and types.
    ("a durable queue is quorum", "topology/compile/queues.rs", "None if flags.is_empty() => QueueType::Quorum,", "None if flags.is_empty() => QueueType::Classic,"),
    ("two types are a conflict", "topology/compile/queues.rs", "&& asked != by_hand\n", "&& asked == by_hand\n"),
    ("a quorum queue has no flags", "topology/compile/queues.rs", "        if !flags.is_empty() {\n            let sentence", "        if flags.len() > 2 {\n            let sentence"),
    ("classic sends no type", "topology/compile/queues.rs", "    if kind != QueueType::Classic {\n        if !flags", "    if kind == QueueType::Classic {\n        wish.arguments.insert(TYPE, kind.name());\n    }\n    if kind != QueueType::Classic {\n        if !flags"),
    ("a stream is not dead-lettered", "topology/compile/queues.rs", "if wants_dead_letters && is_stream {", "if wants_dead_letters && is_stream && wish.exclusive {"),
    ("dead letters by hand are a conflict", "topology/compile/queues.rs", "(conflicting.len() > 1).then(", "(conflicting.len() > 2).then("),
    ("dead letters go to .dlq", "topology/compile/queues.rs", "wish.arguments.insert(DLK, dead.name.as_str());", "wish.arguments.insert(DLK, wish.name.clone());"),
    ("names are sorted by bytes in canonical lines", "value/canonical.rs", "sorted_entries()", "iter().collect::<Vec<_>>()"),
    ("x-queue-type classic is left out of the fingerprint", "rabbitmq/declaration.rs", 'and_then(Value::as_text) == Some("classic") {', 'and_then(Value::as_text) == Some("Classic") {'),
    # Equivalence and predictions.
    ("absent equals classic", "rabbitmq/equivalence.rs", 'name == "x-queue-type" && only.as_text() == Some("classic")', 'name == "x-queue-type" && only.as_text() == Some("quorum")'),
    ("integer widths are one class", "rabbitmq/equivalence.rs", "(Some(a), Some(b)) => a == b,\n            _ => a == b,", "(Some(a), Some(b)) => a != b,\n            _ => a == b,"),
    ("flags come first", "rabbitmq/equivalence.rs", 'property(&mut differences, "internal", request.internal, stored.internal);', ""),
    ("other types fit only durable shared queues", "rabbitmq/predict/queue.rs", "let fits = !replicated || (request.durable && !request.exclusive && !request.auto_delete);", "let fits = true;"),
    ("what is missing is said to be none", "rabbitmq/predict/redeclare.rs", '.plain(": received ")', '.plain(": got ")'),
    # Refusals.
    ("only no queue means absent", "rabbitmq/refusal/wordings.rs", "is down or inaccessible", "is down or gone"),
    # 5. Plans.
    ("no answer is no agreement", "plan/queues.rs", "return action.unknown(Reason::of_failure(&why), why);", "return action.judge(Verdict::Present);"),
    ("the walk takes over what the broker has", "plan/queues.rs", "walk.offered.arguments.insert(argument.clone(), value.clone()) != Some(value.clone())", "false"),
    ("exchanges that were not asked are shown as created", "plan/render.rs", "Verdict::Unknown if !asked(action)", "Verdict::Unknown if asked(action)"),
    ("an apply refuses before anything is declared", "plan/apply.rs", "Verdict::Drift => !(settings", "Verdict::Drift => false && !(settings"),
    # 6. Topics and routing.
    ("* is exactly one word", "topic/pattern.rs", 'wanted == b"*" || wanted == word', "wanted == word"),
    ("# at the end takes everything", "topic/pattern.rs", "if pattern.is_done() {\n                    return true;", "if pattern.is_done() {\n                    return !key.is_done();"),
    ("the key has to end where the pattern ends", "topic/pattern.rs", "None if key.is_done() => return true,", "None => return true,"),
    ("any of the criteria", "routing/headers.rs", "criteria.any(|criterion| criterion.fulfilled)", "criteria.all(|criterion| criterion.fulfilled)"),
    ("x- arguments are no criteria", "routing/headers.rs", 'Self::All | Self::Any => !argument.starts_with("x-"),', "Self::All | Self::Any => argument != X_MATCH,"),
    ("a void asks only that it is there", "routing/headers.rs", "if *wanted == Value::Void {\n        return true;", "if *wanted == Value::Void {\n        return false;"),
    ("an alternate exchange is used when nothing fits", "routing/router.rs", "if reached.is_empty() {\n                next.extend(exchange.alternate());", "if !reached.is_empty() {\n                next.extend(exchange.alternate());"),
    # The embedded broker.
    ("a limit of length is not exceeded", "embedded/queue.rs", "self.settings.max_length.is_some_and(|limit| length > limit)", "self.settings.max_length.is_some_and(|limit| length >= limit)"),
    ("the delivery limit", "embedded/settle.rs", "i64::from(counted) > limit", "i64::from(counted) >= limit"),
    ("what comes back is marked as redelivered", "embedded/settle.rs", "entry.returned = entry.returned.saturating_add(1);", ""),
    ("cycles are dropped", "embedded/publish.rs", "death::is_cycle(version, message, reason, queue)", "false && death::is_cycle(version, message, reason, queue)"),
    ("mandatory messages come back", "embedded/publish.rs", "let returned = mandatory && queues.is_empty();", "let returned = false && mandatory && queues.is_empty();"),
]


def copy(folder):
    """A workspace of the engine and the runner."""
    workspace = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    start, end = workspace.index("members = ["), workspace.index("]", workspace.index("members = ["))
    workspace = workspace[:start] + 'members = ["core/engine", "run-fixtures"' + workspace[end:]
    (folder / "Cargo.toml").write_text(workspace, encoding="utf-8")
    shutil.copy(ROOT / "Cargo.lock", folder)
    shutil.copytree(ROOT / "core" / "engine", folder / "core" / "engine")
    shutil.copytree(ROOT / "conformance", folder / "conformance")
    (folder / "run-fixtures" / "src").mkdir(parents=True)
    (folder / "run-fixtures" / "Cargo.toml").write_text(MANIFEST, encoding="utf-8")
    (folder / "run-fixtures" / "src" / "main.rs").write_text(RUNNER, encoding="utf-8")


def cases(folder):
    """Builds and runs: whether every case passes (None when it does not build), and what is said."""
    built = subprocess.run(["cargo", "build", "-q", "-p", "run-fixtures"], cwd=folder, capture_output=True, text=True)
    if built.returncode != 0:
        return None, built.stderr.strip().splitlines()[0] if built.stderr.strip() else "it does not build"
    program = folder / "target" / "debug" / "run-fixtures"
    try:
        ran = subprocess.run([program, folder / "conformance"], capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        return False, "it does not end"
    return ran.returncode == 0, ran.stdout.strip() or "it panics"


def main():
    wanted = sys.argv[1:]
    chosen = [mutant for mutant in MUTANTS if not wanted or any(word in mutant[0] or word in mutant[1] for word in wanted)]
    with tempfile.TemporaryDirectory(prefix="acemq-mutants-") as name:
        folder = pathlib.Path(name)
        copy(folder)
        passes, said = cases(folder)
        print(f"unchanged: {said}", flush=True)
        if not passes:
            return 1
        survived = []
        for rule, file, old, new in chosen:
            path = folder / "core" / "engine" / "src" / file
            text = path.read_text(encoding="utf-8")
            # Tests stand behind the code in a file.
            code = text.split("#[cfg(test)]")[0]
            if code.count(old) != 1:
                outcome = f"STALE, its text is there {code.count(old)} times"
            else:
                path.write_text(text.replace(old, new, 1), encoding="utf-8")
                passes, said = cases(folder)
                path.write_text(text, encoding="utf-8")
                outcome = {True: "SURVIVED", False: f"noticed: {said}", None: f"DOES NOT BUILD: {said}"}[passes]
            if not outcome.startswith("noticed"):
                survived.append(rule)
            print(f"{rule} ({file}): {outcome}", flush=True)
    print(f"{len(chosen) - len(survived)} of {len(chosen)} mutants noticed" + (f"; not: {', '.join(survived)}" if survived else ""))
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
