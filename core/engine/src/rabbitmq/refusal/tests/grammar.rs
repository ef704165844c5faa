//! Texts built by RabbitMQ's own grammar give back exactly what they were built from; cut ones never anything else.

use super::{Known, Printed, Refusal, RefusalClass, Side, printed, typed};
use crate::rabbitmq::typed_value;
use proptest::prelude::*;

/// A name as brokers allow it, with a liking for what could be taken for the text around it.
fn hostile_name() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => "[a-z0-9._-]{1,8}",
        1 => "\\PC{1,4}",
        1 => prop::sample::select(vec![
            "'", "\"", "\\", "'' ", "' in vhost '", "': received '", "' but current is '", "none", "...", "\t", "\0",
            "PRECONDITION_FAILED - ", "NOT_FOUND - no queue '", "of type 'long'", "ü", "日本", "😀",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat().replace(['\r', '\n'], ""))
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        "-?[0-9]{1,12}",
        "true|false",
        "[a-z.'\"-]{0,12}",
        r"\[\{<<.a.>>,signedint,1\},\n \{<<.b.>>,longstr,<<.x.>>\}\]",
        hostile_name()
            .prop_filter("ambiguous", |value| !value.contains("but current is") && !value.contains("of type")),
    ]
}

fn wire_type() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["signedint", "long", "longstr", "bool", "double", "table", "array", "timestamp"])
        .prop_map(str::to_owned)
}

/// The text of both sides, and what they are. Only these pairs exist.
fn sides() -> impl Strategy<Value = (String, Option<Printed>, Option<Printed>, Option<Side>)> {
    prop_oneof![
        (value(), value())
            .prop_map(|(a, b)| { (format!("'{a}' but current is '{b}'"), Some(printed(&a)), Some(printed(&b)), None) }),
        (value(), wire_type()).prop_map(|(a, kind)| (
            format!("none but current is the value '{a}' of type '{kind}'"),
            None,
            Some(typed(&a, &kind)),
            Some(Side::Received)
        )),
        (value(), wire_type()).prop_map(|(a, kind)| (
            format!("the value '{a}' of type '{kind}' but current is none"),
            Some(typed(&a, &kind)),
            None,
            Some(Side::Current)
        )),
        value().prop_map(|a| (format!("none but current is '{a}'"), None, Some(printed(&a)), Some(Side::Received))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn an_inequivalence_gives_back_its_parts(
        argument in "x-[a-z-]{1,20}|durable|auto_delete|type",
        exchange: bool,
        name in hostile_name(),
        vhost in hostile_name(),
        (sides, received, current, absent) in sides(),
    ) {
        let kind = if exchange { "exchange" } else { "queue" };
        let text = format!(
            "PRECONDITION_FAILED - inequivalent arg '{argument}' for {kind} '{name}' in vhost '{vhost}': received {sides}"
        );
        let refusal = Refusal::read(Some(406), &text, Known { name: Some(&name), vhost: Some(&vhost) });
        prop_assert_eq!(refusal.class, RefusalClass::Inequivalent);
        prop_assert_eq!(refusal.kind.map(|kind| kind.name()), Some(kind));
        prop_assert_eq!(refusal.name, Some(name));
        prop_assert_eq!(refusal.vhost, Some(vhost));
        prop_assert_eq!(refusal.argument, Some(argument));
        prop_assert_eq!(refusal.received, received);
        prop_assert_eq!(refusal.current, current);
        prop_assert_eq!(refusal.absent, absent);
        prop_assert!(!refusal.truncated);
    }

    #[test]
    fn every_other_text_about_an_object_gives_back_its_name(
        name in hostile_name(),
        vhost in hostile_name(),
        user in "[a-z']{1,8}",
        which in 0_usize..8,
    ) {
        let (code, class, text) = match which {
            0 => (404, RefusalClass::NotFound, format!("NOT_FOUND - no queue '{name}' in vhost '{vhost}'")),
            1 => (404, RefusalClass::NotFound, format!("NOT_FOUND - no exchange '{name}' in vhost '{vhost}'")),
            2 => (405, RefusalClass::Locked, format!(
                "RESOURCE_LOCKED - cannot obtain exclusive access to locked queue '{name}' in vhost '{vhost}'. It could be originally declared on another connection or the exclusive property value does not match that of the original declaration."
            )),
            3 => (403, RefusalClass::AccessRefused, format!(
                "ACCESS_REFUSED - configure access to queue '{name}' in vhost '{vhost}' refused for user '{user}'"
            )),
            4 => (406, RefusalClass::Invalid, format!(
                "PRECONDITION_FAILED - invalid arg 'x-expires' for queue '{name}' in vhost '{vhost}': {{value_zero,0}}"
            )),
            5 => (406, RefusalClass::Invalid, format!(
                "PRECONDITION_FAILED - invalid arg 'x-max-age' for queue '{name}' in vhost '{vhost}' of queue type rabbit_quorum_queue"
            )),
            6 => (406, RefusalClass::NotEmpty, format!("PRECONDITION_FAILED - queue '{name}' in vhost '{vhost}' not empty")),
            _ => (404, RefusalClass::Unavailable, format!(
                "NOT_FOUND - home node 'rabbit@a' of durable queue '{name}' in vhost '{vhost}' is down or inaccessible"
            )),
        };
        let refusal = Refusal::read(Some(code), &text, Known { name: Some(&name), vhost: Some(&vhost) });
        prop_assert_eq!(refusal.class, class);
        prop_assert_eq!(refusal.proves_absence(), which < 2);
        prop_assert_eq!(refusal.name, Some(name));
        prop_assert_eq!(refusal.vhost, Some(vhost));
    }

    #[test]
    fn a_cut_text_never_gives_anything_that_the_whole_one_does_not(
        name in "[a-zü日.]{1,20}",
        vhost in "[a-zü/]{1,8}",
        known: bool,
        first in "[a-z0-9ü日]{0,12}",
        second in "[a-z0-9ü日]{0,12}",
        form in 0_usize..3,
        at in 0.0_f64..1.0,
        bytes: bool,
    ) {
        let sides = match form {
            0 => format!("'{first}' but current is '{second}'"),
            1 => format!("none but current is the value '{second}' of type 'longstr'"),
            _ => format!("the value '{first}' of type 'longstr' but current is none"),
        };
        let text = format!(
            "PRECONDITION_FAILED - inequivalent arg 'x-dead-letter-exchange' for queue '{name}' in vhost '{vhost}': received {sides}"
        );
        let whole = Refusal::read(Some(406), &text, Known::default());
        let from = "PRECONDITION_FAILED - inequivalent arg 'x-".len();
        // A broker replaces at least three bytes.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a position")]
        let end = from + (at * (text.len() - 3 - from) as f64) as usize;
        let cut = if bytes {
            let mut cut = text.as_bytes()[..end].to_vec();
            cut.extend(b"...");
            String::from_utf8_lossy(&cut).into_owned()
        } else {
            let end = (0..=end).rev().find(|end| text.is_char_boundary(*end)).unwrap();
            format!("{}...", text.split_at(end).0)
        };
        let known = if known { Known { name: Some(&name), vhost: Some(&vhost) } } else { Known::default() };
        let refusal = Refusal::read(Some(406), &cut, known);
        prop_assert_eq!(refusal.class, RefusalClass::Inequivalent, "{}", cut);
        prop_assert!(refusal.truncated);
        prop_assert!(refusal.argument.is_none() || refusal.argument == whole.argument, "{}", cut);
        prop_assert!(refusal.name.is_none() || refusal.name == whole.name, "{}", cut);
        prop_assert!(refusal.vhost.is_none() || refusal.vhost == whole.vhost, "{}", cut);
        prop_assert!(refusal.absent.is_none() || refusal.absent == whole.absent, "{}", cut);
        let agrees = |cut: &Option<Printed>, whole: &Option<Printed>| match (cut, whole) {
            (None, _) => true,
            // The type stands behind the value, so it may be gone where the value is whole.
            (Some(cut), Some(whole)) => cut.value == whole.value && (cut.kind.is_none() || cut.kind == whole.kind),
            (Some(_), None) => false,
        };
        prop_assert!(agrees(&refusal.received, &whole.received), "{}", cut);
        prop_assert!(agrees(&refusal.current, &whole.current), "{}", cut);
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,300}", name in "\\PC{0,10}", code: Option<u16>) {
        let refusal = Refusal::read(code, &text, Known { name: Some(&name), vhost: Some(&name) });
        prop_assert!(!refusal.says().is_empty());
        let _ = Refusal::read_line(&text);
        let _ = typed_value("x-max-age", &printed(&text));
    }

    #[test]
    fn no_mixture_of_the_words_of_refusals_panics(
        pieces in prop::collection::vec(prop_oneof![hostile_name(), sides().prop_map(|sides| sides.0), value()], 0..12),
        beginning in prop::sample::select(vec![
            "", "PRECONDITION_FAILED - inequivalent arg 'x-a' for queue '", "Exception (406) Reason: \"NOT_FOUND - no queue '",
            "{\"error\":\"", "text='ACCESS_REFUSED - ", "precondition_failed: \"", "\\\"NOT_FOUND - ",
        ]),
        known in hostile_name(),
    ) {
        let text = format!("{beginning}{}", pieces.concat());
        for known in [Known::default(), Known { name: Some(&known), vhost: Some(&known) }] {
            prop_assert!(!Refusal::read(None, &text, known).says().is_empty());
        }
    }
}
