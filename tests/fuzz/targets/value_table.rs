//! An argument table in JSON is refused or read; what is read prints to JSON that reads back as the same table.
#![no_main]

use acemq_core::rabbitmq::QueueDeclaration;
use acemq_core::value::Table;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(table) = serde_json::from_slice::<Table>(bytes) else { return };
    let json = serde_json::to_string(&table).expect("a table prints");
    let again: Table = serde_json::from_str(&json).unwrap_or_else(|error| panic!("{json}: {error}"));
    assert_eq!(again, table.sorted(), "{json}");
    // The canonical line is JSON too, and does not depend on the order of the entries.
    let line = |arguments: Table| {
        let mut queue = QueueDeclaration::durable("q");
        queue.arguments = arguments;
        queue.canonical()
    };
    let canonical = line(table.clone());
    serde_json::from_str::<serde_json::Value>(&canonical).unwrap_or_else(|error| panic!("{canonical}: {error}"));
    assert_eq!(canonical, line(table.sorted()));
});
