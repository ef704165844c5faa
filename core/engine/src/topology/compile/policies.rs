//! Policies: settings that an operator can change on a live queue.

use super::super::finding::{Findings, Place, Section, joined, meant};
use super::super::problem::{ObjectRef, Problem, ProblemCode};
use super::super::wish::PolicyWish;
use crate::name::quoted;
use crate::rabbitmq::PolicyDeclaration;
use std::collections::HashMap;

/// What a policy can apply to; the last three from RabbitMQ 3.12 on.
const APPLY_TO: [&str; 6] = ["all", "queues", "exchanges", "classic_queues", "quorum_queues", "streams"];

pub(super) fn read(wishes: Vec<PolicyWish>, findings: &mut Findings) -> Vec<PolicyDeclaration> {
    let mut policies: Vec<PolicyDeclaration> = Vec::with_capacity(wishes.len());
    let mut by_name: HashMap<String, usize> = HashMap::new();
    for (index, wish) in wishes.into_iter().enumerate() {
        let place = Place::new(Section::Policies, index);
        check(&wish, &place, findings);
        let policy = PolicyDeclaration {
            name: wish.name,
            pattern: wish.pattern.unwrap_or_default(),
            apply_to: wish.apply_to.unwrap_or_else(|| "all".to_owned()),
            priority: wish.priority,
            definition: wish.definition.sorted(),
        };
        match by_name.get(&policy.name).and_then(|first| policies.get(*first)) {
            None => {
                by_name.insert(policy.name.clone(), policies.len());
                policies.push(policy);
            }
            Some(first) if *first == policy => {}
            Some(_) => {
                let sentence = format!("policy {} stands here twice with different contents", quoted(&policy.name));
                let problem = Problem::new(ProblemCode::DuplicatePolicy, ObjectRef::policy(&policy.name), sentence)
                    .help("Keep one of the two, or give one another name.");
                findings.push(place, problem);
            }
        }
    }
    policies
}

fn check(wish: &PolicyWish, place: &Place, findings: &mut Findings) {
    let mut report = |code, at: Option<&'static str>, sentence: String, help: &str| {
        let place = at.map_or_else(|| place.clone(), |key| place.clone().at(key));
        findings.push(place, Problem::new(code, ObjectRef::policy(&wish.name), sentence).help(help));
    };
    if wish.name.is_empty() {
        report(ProblemCode::NameEmpty, None, "a policy has no name".to_owned(), "Give it a name.");
    }
    let name = quoted(&wish.name);
    if wish.pattern.is_none() {
        let sentence = format!("policy {name} has no pattern");
        report(
            ProblemCode::PolicyInvalid,
            None,
            sentence,
            "Add pattern: a regular expression on names; \".*\" matches all.",
        );
    }
    if wish.definition.is_empty() {
        let sentence = format!("policy {name} sets nothing");
        report(
            ProblemCode::PolicyInvalid,
            None,
            sentence,
            "Add definition: with at least one key, as in { max-length: 1000 }.",
        );
    }
    if let Some(apply_to) = wish.apply_to.as_deref().filter(|apply_to| !APPLY_TO.contains(apply_to)) {
        let sentence =
            format!("policy {name} applies to {}, which is nothing that a policy can apply to", quoted(apply_to));
        let guess = meant(apply_to, APPLY_TO).map(|near| format!("Did you mean \"{near}\"? ")).unwrap_or_default();
        let help = format!("{guess}Write one of {}.", joined(&APPLY_TO, "or"));
        report(ProblemCode::PolicyInvalid, Some("apply_to"), sentence, &help);
    }
    for (key, _) in wish.definition.iter().filter(|(key, _)| key.starts_with("x-")) {
        let place = place.clone().at("definition").at(key.to_owned());
        let sentence = format!("policy {name} sets {}, and the keys of a policy have no x-", quoted(key));
        let problem = Problem::new(ProblemCode::PolicyInvalid, ObjectRef::policy(&wish.name), sentence)
            .field("key", key)
            .help(format!("Write {}.", quoted(key.trim_start_matches("x-"))));
        findings.push(place, problem);
    }
}
