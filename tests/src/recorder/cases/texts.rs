//! Names and values that are printed oddly, and texts that are cut.

use super::{ask, exchange, queue};
use crate::recorder::Case;
use acemq_core::value::{Table, Value};

pub(super) fn cases() -> Vec<Case> {
    [names(), lengths(), printed()].concat()
}

fn names() -> Vec<Case> {
    let names = [
        ("quote", "it's"),
        ("like-a-text", "q' in vhost '/': received '1' but current is '2"),
        ("double-quote", "say \"hi\""),
        ("backslash", "a\\b"),
        ("blank", "a b "),
        ("tab", "a\tb"),
        ("nul", "a\0b"),
        ("newline", "a\nb"),
        ("return", "a\r\nb"),
        ("latin", "zusätzlich"),
        ("japanese", "日本"),
        ("emoji", "🐇"),
        ("percent", "%41~p~s"),
        ("reserved", "amq.x"),
        ("reserved-alone", "amq."),
        ("reserved-without-dot", "amq"),
        ("reserved-upper", "AMQ.x"),
        ("reserved-newline", "a\nmq.x"),
        ("generated", "amq.gen-x"),
        ("pattern", "a.*.#"),
    ];
    let mut cases = Vec::new();
    for (word, name) in names {
        cases.push(ask(format!("name.queue.{word}"), queue(name)));
        cases.push(ask(format!("name.queue.{word}.passive"), queue(name).passively()));
        cases.push(ask(format!("name.queue.{word}.differs"), queue(name).transient()).after(queue(name)));
        cases.push(ask(format!("name.exchange.{word}"), exchange(name, "direct")));
        cases.push(ask(format!("name.exchange.{word}.passive"), exchange(name, "direct").passively()));
        cases.push(
            ask(format!("name.exchange.{word}.differs"), exchange(name, "topic")).after(exchange(name, "direct")),
        );
    }
    // Nothing is left of these names: the broker chooses one.
    cases.push(ask("name.queue.only-newline", queue("\n")));
    cases.push(ask("name.exchange.only-newline", exchange("\n", "direct")));
    cases.push(ask("name.queue.empty", queue("")));
    cases.push(ask("name.queue.empty.passive", queue("").passively()));
    cases
}

/// Texts on both sides of the 255 bytes (or characters) that a reply text may have.
fn lengths() -> Vec<Case> {
    let mut cases = Vec::new();
    let differing = |name: &str, ttl: i32| queue(name).with("x-message-ttl", Value::I32(ttl));
    // Lengths of names at which a text reaches the limit in bytes, in characters, or is far beyond both.
    let passive: [(&str, &str, &[usize]); 3] = [
        ("ascii", "n", &[100, 214, 215, 216, 217, 218, 254, 255]),
        ("latin", "ü", &[100, 107, 108, 109, 110, 127]),
        ("japanese", "日", &[70, 71, 72, 73, 74, 85]),
    ];
    for (word, letter, lengths) in passive {
        for length in lengths {
            let name = letter.repeat(*length);
            cases.push(ask(format!("length.{word}.passive.{length}"), queue(&name).passively()));
        }
    }
    let differs: [(&str, &str, std::ops::Range<usize>); 3] =
        [("ascii", "n", 130..146), ("latin", "ü", 62..76), ("japanese", "日", 40..52)];
    for (word, letter, lengths) in differs {
        for length in lengths {
            let name = letter.repeat(length);
            cases.push(ask(format!("length.{word}.differs.{length}"), differing(&name, 2)).after(differing(&name, 1)));
        }
    }
    for length in [50, 100, 150, 200] {
        let long = |letter: &str| queue("q").with("x-dead-letter-exchange", letter.repeat(length));
        cases.push(ask(format!("length.value.{length}"), long("b")).after(long("a")));
        cases.push(ask(format!("length.latin-value.{length}"), long("ä")).after(long("a")));
    }
    cases
}

/// Values as Erlang prints them.
fn printed() -> Vec<Case> {
    let text = |text: &str| Value::text(text);
    let floats = [
        0.0,
        -0.0,
        1.0,
        -1.5,
        0.1,
        0.001,
        1e-4,
        1e-5,
        1.0e4,
        123_456_789.0,
        1e9,
        1e15,
        1e16,
        1e21,
        1e22,
        1e23,
        5e-324,
        1.797_693_134_862_315_7e308,
        2.0_f64.powi(53),
        2.0_f64.powi(53) + 2.0,
        6.02e23,
        0.3,
    ];
    let mut values: Vec<(String, Value)> =
        floats.iter().map(|number| (format!("double.{number:e}"), Value::F64(*number))).collect();
    values.extend([0.1_f32, 1.5, 1e10, 16_777_216.0, 3.4e38].map(|n| (format!("float.{n:e}"), Value::F32(n))));
    let strings = [
        "",
        "plain",
        "it's",
        "say \"hi\"",
        "back\\slash",
        "tab\t",
        "line\nbreak",
        "\u{7f}",
        "\u{1}",
        "ä",
        "日本",
        "🐇",
    ];
    for (number, string) in strings.iter().enumerate() {
        values.push((format!("text.{number}"), text(string)));
        values.push((format!("text-in-array.{number}"), Value::Array(vec![text(string)])));
        values
            .push((format!("binary-in-array.{number}"), Value::Array(vec![Value::Binary(string.as_bytes().to_vec())])));
        values.push((format!("name-in-table.{number}"), Value::Table(Table::new().with(*string, 1))));
    }
    let deep = |depth: usize| (0..depth).fold(Value::I32(1), |inner, _| Value::Array(vec![inner]));
    let many = |count: i32| Value::Array((0..count).map(Value::I32).collect());
    let words = |count: usize| Value::Array((0..count).map(|n| text(&format!("word-{n}"))).collect());
    let table = |count: usize| Value::Table((0..count).map(|n| (format!("key-{n}"), Value::text("value"))).collect());
    values.extend([
        ("array.empty".to_owned(), Value::Array(vec![])),
        ("array.void".to_owned(), Value::Array(vec![Value::Void, Value::Bool(false), Value::Timestamp(9)])),
        ("array.decimal".to_owned(), Value::Array(vec![Value::Decimal { scale: 2, unscaled: 314 }])),
        ("table.empty".to_owned(), Value::Table(Table::new())),
        (
            "nested".to_owned(),
            Value::Table(Table::new().with("a", Value::Array(vec![Value::Table(Table::new().with("b", deep(2)))]))),
        ),
    ]);
    values.extend((1..8).map(|depth| (format!("deep.{depth}"), deep(depth))));
    // Longer ones are broken into lines of eighty columns.
    values.extend((3..9).map(|count| (format!("numbers.{count}"), many(count))));
    values.extend((1..7).map(|count| (format!("words.{count}"), words(count))));
    values.extend((1..6).map(|count| (format!("table.{count}"), table(count))));
    let binary = |length: u8| Value::Array(vec![Value::Binary((0..length).collect())]);
    values.extend((10..30).step_by(4).map(|length| (format!("bytes.{length}"), binary(length))));

    let mut cases = Vec::new();
    for (word, value) in values {
        let asked = queue("q").with("x-overflow", value.clone());
        let there = queue("q").with("x-overflow", "drop-head");
        cases.push(ask(format!("printed.{word}"), asked.clone()).after(there));
        cases.push(ask(format!("printed.{word}.added"), asked).after(queue("q")));
        // Delivery limits are stored whatever they are, so the odd value can be the current one too.
        let there = queue("q").of_type("quorum").with("x-delivery-limit", value);
        cases.push(ask(format!("printed.{word}.current"), queue("q").of_type("quorum")).after(there));
    }
    cases
}
