//! The verdict on every case of the catalogue, and on its repaired twin.

use crate::cases;
use acemq_core::audit::{Code, Report, Severity, audit};
use std::collections::BTreeSet;

fn found(report: &Report) -> BTreeSet<(Code, String)> {
    report.findings.iter().map(|finding| (finding.code, finding.object.name.clone())).collect()
}

#[test]
fn every_reported_case_is_found_and_gone_when_it_is_repaired() {
    let mut wrong = Vec::new();
    for case in cases::all() {
        let report = audit(&case.state, &case.options);
        let before = found(&report);
        for wanted in case.finds.iter().filter(|wanted| !before.contains(wanted)) {
            wrong.push(format!("{}: {wanted:?} was not found, but\n{}", case.name, report.to_text(Severity::Info)));
        }
        // The twin may be worth another remark, never this one, and never an error.
        let report = audit(&case.repaired, &case.options);
        let codes: BTreeSet<Code> = case.finds.iter().map(|(code, _)| *code).collect();
        for left in report.findings.iter().filter(|left| codes.contains(&left.code) || left.severity == Severity::Error)
        {
            wrong.push(format!("{}: after the repair {} {}", case.name, left.code, left.message));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn every_code_has_a_case() {
    let covered: BTreeSet<Code> = cases::all().iter().flat_map(|case| &case.finds).map(|(code, _)| *code).collect();
    // A definitions file suppresses nothing; the engine's own tests judge documents that do.
    let of_documents = [Code::SuppressionUnknownCode, Code::SuppressionObjectMissing, Code::SuppressionUnused];
    let open: Vec<&Code> =
        Code::ALL.iter().filter(|code| !covered.contains(code) && !of_documents.contains(code)).collect();
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn findings_of_loss_carry_the_message_that_is_lost() {
    const SHOWN: [Code; 20] = [
        Code::DeadLetterExchangeMissing,
        Code::DeadLetterQueueMissing,
        Code::DeadLetterLost,
        Code::DeadLetterLostForSome,
        Code::DeadLetterLostByName,
        Code::DeadLetterBlocked,
        Code::DeadLetterCycleCut,
        Code::DeadLetterCycleOverflow,
        Code::DeadLetterCycleDeliveryLimit,
        Code::RetryNeverEnds,
        Code::LoopWithoutDelay,
        Code::CrossTalk,
        Code::RetryLeaks,
        Code::DeliveryLimitDrops,
        Code::AlternateExchangeBypassed,
        Code::AlternateExchangeCannotRoute,
        Code::DeadLetterQueueBounded,
        Code::OverflowOnQuorum,
        Code::ExchangeLeadsNowhere,
        Code::HeadersMatchNone,
    ];
    for case in cases::all() {
        let report = audit(&case.state, &case.options);
        for finding in report.findings.iter().filter(|finding| SHOWN.contains(&finding.code)) {
            // Where one death goes two ways there is no single message to follow.
            if !case.name.starts_with("B-27") {
                assert!(finding.example.is_some(), "{}: {}", case.name, finding.message);
            }
        }
    }
}

#[test]
fn the_same_vhost_gives_the_same_bytes() {
    for case in cases::all() {
        let document = || serde_json::to_string(&audit(&case.state, &case.options).to_document()).unwrap();
        assert_eq!(document(), document(), "{}", case.name);
    }
}
