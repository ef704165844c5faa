//! Any text is read without a panic, and what is read out of it stands in it.
#![no_main]

use acemq_core::rabbitmq::{Known, Refusal, typed_value};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let input = String::from_utf8_lossy(bytes);
    let mut parts = input.splitn(3, '\u{1e}');
    let text = parts.next().unwrap_or_default();
    let known = Known { name: parts.next(), vhost: parts.next() };
    let code = match bytes.len() % 4 {
        0 => None,
        1 => Some(404),
        2 => Some(406),
        _ => Some(541),
    };
    let refusal = Refusal::read(code, text, known);
    assert!(!refusal.says().is_empty());
    assert!(!refusal.says().contains('\n'), "a sentence is one line");
    assert!(!refusal.proves_absence() || refusal.name.is_some());
    assert!(refusal.received.is_none() || refusal.absent != Some(acemq_core::rabbitmq::Side::Received));
    // What is named is in the text, or is what the caller knows.
    if let Some(name) = &refusal.name {
        let stripped = known.name.map(|name| name.replace(['\r', '\n'], ""));
        assert!(refusal.text.contains(name.as_str()) || known.name == Some(name) || stripped.as_ref() == Some(name));
    }
    for printed in [&refusal.received, &refusal.current].into_iter().flatten() {
        assert!(refusal.text.contains(printed.value.as_str()));
        for argument in [refusal.argument.as_deref().unwrap_or_default(), "x-max-age", "x-delivery-limit"] {
            let _ = typed_value(argument, printed);
        }
    }
    serde_json::to_string(&refusal.to_document()).expect("a document is JSON");
    let _ = Refusal::read_line(&input);
});
