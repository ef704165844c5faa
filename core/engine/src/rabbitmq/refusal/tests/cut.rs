//! Texts that the broker cut at 255.

use super::{Known, Refusal, RefusalClass, RefusedKind, Side, printed, read};

/// As up to 4.0.4: 252 bytes and three dots, shown by a client that puts U+FFFD for a broken character.
fn cut_at_bytes(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    assert!(bytes.len() > 255, "not long enough to be cut");
    bytes.truncate(252);
    bytes.extend(b"...");
    String::from_utf8_lossy(&bytes).into_owned()
}

fn inequivalent(name: &str, sides: &str) -> String {
    format!(
        "PRECONDITION_FAILED - inequivalent arg 'x-dead-letter-exchange' for queue '{name}' in vhost 'probe': received {sides}"
    )
}

#[test]
fn a_name_that_the_cut_left_incomplete_is_not_given() {
    let name = "n".repeat(255);
    let text = cut_at_bytes(&inequivalent(&name, "'a' but current is 'b'"));
    let refusal = read(406, &text);
    assert_eq!(refusal.class, RefusalClass::Inequivalent);
    assert_eq!(refusal.kind, Some(RefusedKind::Queue));
    assert_eq!(refusal.argument.as_deref(), Some("x-dead-letter-exchange"));
    assert_eq!((&refusal.name, &refusal.vhost), (&None, &None));
    assert!(refusal.truncated);
    assert!(refusal.says().starts_with("a queue whose name begins with \"nnn"), "{}", refusal.says());
    assert!(refusal.says().ends_with(" (the broker cut its text here)"), "{}", refusal.says());
}

#[test]
fn a_known_name_that_fits_is_given() {
    let name = "ü".repeat(120);
    let known = Known { name: Some(&name), vhost: Some("probe") };
    let refusal = Refusal::read(Some(406), &cut_at_bytes(&inequivalent(&name, "'a' but current is 'b'")), known);
    assert_eq!(refusal.name, Some(name.clone()));
    assert_eq!(refusal.vhost, None, "the text does not reach the vhost");

    let other = Known { name: Some("something else"), vhost: Some("probe") };
    let refusal = Refusal::read(Some(406), &cut_at_bytes(&inequivalent(&name, "'a' but current is 'b'")), other);
    assert_eq!(refusal.name, None);
}

#[test]
fn a_text_from_a_real_broker_with_a_half_character() {
    // 3.10.8; Python's backslashreplace wrote the half character as \xc3.
    let name = "ü".repeat(120);
    for half in ["\u{fffd}", "\\xc3"] {
        let text =
            format!("PRECONDITION_FAILED - inequivalent arg 'x-queue-type' for queue '{}{half}...", "ü".repeat(94));
        let refusal = Refusal::read(Some(406), &text, Known { name: Some(&name), vhost: None });
        assert_eq!(refusal.name.as_ref(), Some(&name), "{half}");
        assert!(refusal.truncated);
    }
}

#[test]
fn a_missing_queue_with_a_long_name_is_still_missing() {
    let name = "n".repeat(255);
    let text = cut_at_bytes(&format!("NOT_FOUND - no queue '{name}' in vhost 'probe'"));
    let refusal = Refusal::read(Some(404), &text, Known { name: Some(&name), vhost: Some("probe") });
    assert_eq!(refusal.class, RefusalClass::NotFound);
    assert!(refusal.truncated && refusal.proves_absence());
    // Without the name nobody knows which queue is missing.
    assert!(!read(404, &text).proves_absence());
    // The home node's text begins in another way.
    let text = cut_at_bytes(&format!(
        "NOT_FOUND - home node 'a@b' of durable queue '{name}' in vhost '/' is down or inaccessible"
    ));
    let refusal = Refusal::read(Some(404), &text, Known { name: Some(&name), vhost: Some("/") });
    assert_eq!(refusal.class, RefusalClass::Unavailable);
    assert!(!refusal.proves_absence());
}

#[test]
fn of_two_values_the_whole_ones_are_given() {
    let name = "q".repeat(60);
    let long = "v".repeat(200);
    let refusal = read(406, &cut_at_bytes(&inequivalent(&name, &format!("'a' but current is '{long}'"))));
    assert_eq!((&refusal.received, &refusal.current), (&Some(printed("a")), &None));
    assert!(refusal.says().contains("asked for \"a\"; what is there begins with \"vvv"), "{}", refusal.says());

    let refusal = read(406, &cut_at_bytes(&inequivalent(&name, &format!("'{long}' but current is 'b'"))));
    assert_eq!((&refusal.received, &refusal.current), (&None, &None));
    assert!(refusal.says().contains("asked for one that begins with \"vvv"), "{}", refusal.says());

    let none = format!("none but current is the value '{long}' of type 'longstr'");
    let refusal = read(406, &cut_at_bytes(&inequivalent(&name, &none)));
    assert_eq!((refusal.absent, &refusal.current), (Some(Side::Received), &None));
}

#[test]
fn a_cut_complaint_says_so() {
    let refusal = read(
        541,
        "INTERNAL_ERROR - Feature `queue_master_locator` is deprecated.\nBy default, this feature is not permitted anymore.\nThe feature will be removed from a future major RabbitMQ version, regardless of the configuration; actual version to be determined.\nTo con...",
    );
    assert_eq!(refusal.class, RefusalClass::Invalid);
    assert!(refusal.truncated);
    // The same words at a length at which no broker cuts are all there is.
    assert!(!read(406, "PRECONDITION_FAILED - invalid arg 'x-a' for queue 'q' in vhost '/': so...").truncated);
}

#[test]
fn a_cut_text_that_may_go_on_in_several_ways_proves_none_of_them() {
    let name = "n".repeat(255);
    let begun = cut_at_bytes(&format!("PRECONDITION_FAILED - queue '{name}' in vhost '/' not empty"));
    assert_eq!(read(406, &begun).class, RefusalClass::Other, "not empty and in use begin alike");
    assert!(read(406, &begun).truncated);
    let begun = cut_at_bytes(&format!("NOT_FOUND - queue '{name}' in vhost '/' has crashed and failed to restart"));
    assert_eq!(read(404, &begun).class, RefusalClass::Unavailable, "the code tells");
}

#[test]
fn a_text_that_a_person_shortened() {
    let text = "inequivalent arg 'x-message-ttl'for queue 'appinsight.topology'...";
    let refusal = Refusal::read(None, text, Known::default());
    assert_eq!(refusal.class, RefusalClass::Inequivalent);
    assert_eq!(refusal.argument.as_deref(), Some("x-message-ttl"));
    assert!(refusal.truncated);
}
