//! Policies: settings that an operator can change on a live queue.

use super::super::finding::{Findings, Place, Section, Subject, exchange as exchange_named, joined, meant};
use super::super::problem::{ObjectRef, Problem, ProblemCode};
use super::super::wish::{APPLY_TO, PolicyWish};
use super::exchanges::{Exchanges, undeclared_help};
use super::table_too_large;
use crate::name::quoted;
use crate::rabbitmq::PolicyDeclaration;
use crate::value::Value;
use std::collections::HashMap;

/// Every policy of a topology, in order.
pub(super) struct Policies {
    pub declared: Vec<PolicyDeclaration>,
    /// The document's entry of each.
    entries: Vec<usize>,
}

impl Policies {
    pub fn read(wishes: Vec<PolicyWish>, findings: &mut Findings) -> Self {
        let mut policies = Self { declared: Vec::with_capacity(wishes.len()), entries: Vec::new() };
        let mut by_name: HashMap<String, usize> = HashMap::new();
        for (entry, wish) in wishes.into_iter().enumerate() {
            let place = Place::new(Section::Policies, entry);
            check(&wish, &place, findings);
            let policy = PolicyDeclaration {
                name: wish.name,
                pattern: wish.pattern.unwrap_or_default(),
                apply_to: wish.apply_to.unwrap_or_else(|| "all".to_owned()),
                priority: wish.priority,
                definition: wish.definition.into_sorted(),
            };
            match by_name.get(&policy.name).and_then(|first| policies.declared.get(*first)) {
                None => {
                    by_name.insert(policy.name.clone(), policies.declared.len());
                    policies.declared.push(policy);
                    policies.entries.push(entry);
                }
                Some(first) if *first == policy => {}
                Some(_) => {
                    let sentence = format!("{} stands here twice with different contents", named(&policy.name));
                    let problem = Problem::new(ProblemCode::DuplicatePolicy, ObjectRef::policy(&policy.name), sentence)
                        .help("Keep one of the two, or give one another name.");
                    findings.push(place, problem);
                }
            }
        }
        policies
    }

    /// Warnings that need every exchange to be known.
    pub fn warn(&self, exchanges: &Exchanges, findings: &mut Findings) {
        let keys = [
            ("dead-letter-exchange", ProblemCode::DeadLetterExchangeUndeclared, "dead-letters"),
            ("alternate-exchange", ProblemCode::AlternateExchangeUndeclared, "hands what cannot be routed"),
        ];
        for (policy, entry) in self.declared.iter().zip(&self.entries) {
            for (key, code, what) in keys {
                let Some(name) = policy.definition.get(key).and_then(Value::as_text) else { continue };
                if !exchanges.contains(name) {
                    let sentence = format!(
                        "{} {what} to {}, which this topology does not declare",
                        named(&policy.name),
                        exchange_named(name)
                    );
                    let problem = Problem::new(code, ObjectRef::policy(&policy.name), sentence)
                        .field("exchange", name)
                        .help(undeclared_help(name));
                    findings.push(Place::new(Section::Policies, *entry).at("definition").at(key), problem);
                }
            }
        }
    }
}

fn named(name: &str) -> String {
    Subject::Policy(name).to_string()
}

fn check(wish: &PolicyWish, place: &Place, findings: &mut Findings) {
    if table_too_large(&wish.definition, Subject::Policy(&wish.name), place, findings) {
        return;
    }
    let mut report = |code, at: Option<&'static str>, sentence: String, help: &str| {
        let place = at.map_or_else(|| place.clone(), |key| place.clone().at(key));
        findings.push(place, Problem::new(code, ObjectRef::policy(&wish.name), sentence).help(help));
    };
    if wish.name.is_empty() {
        report(ProblemCode::NameEmpty, None, "a policy has no name".to_owned(), "Give it a name.");
    }
    let name = named(&wish.name);
    if wish.pattern.is_none() {
        let sentence = format!("{name} has no pattern");
        report(
            ProblemCode::PolicyInvalid,
            None,
            sentence,
            "Add pattern: a regular expression on names; \".*\" matches all.",
        );
    }
    if wish.definition.is_empty() {
        let sentence = format!("{name} sets nothing");
        report(
            ProblemCode::PolicyInvalid,
            None,
            sentence,
            "Add definition: with at least one key, as in { max-length: 1000 }.",
        );
    }
    if let Some(apply_to) = wish.apply_to.as_deref().filter(|apply_to| !APPLY_TO.contains(apply_to)) {
        let sentence = format!("{name} applies to {}, which is nothing that a policy can apply to", quoted(apply_to));
        let guess = meant(apply_to, APPLY_TO).map(|near| format!("Did you mean \"{near}\"? ")).unwrap_or_default();
        let help = format!("{guess}Write one of {}.", joined(&APPLY_TO, "or"));
        report(ProblemCode::PolicyInvalid, Some("apply_to"), sentence, &help);
    }
    for (key, _) in wish.definition.iter().filter(|(key, _)| key.starts_with("x-")) {
        let place = place.clone().at("definition").at(key.to_owned());
        let sentence = format!("{name} sets {}, and the keys of a policy have no x-", quoted(key));
        let problem = Problem::new(ProblemCode::PolicyInvalid, ObjectRef::policy(&wish.name), sentence)
            .field("key", key)
            .help(format!("Write {}.", quoted(key.trim_start_matches("x-"))));
        findings.push(place, problem);
    }
}
