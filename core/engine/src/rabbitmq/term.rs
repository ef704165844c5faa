//! How Erlang prints a value inside a refusal.
//!
//! RabbitMQ builds its texts with `io_lib:format`: names and byte strings go in raw, everything else as an Erlang term.

mod layout;

use crate::value::Value;
use layout::Node;

/// The name that RabbitMQ gives to the type of `value` in its texts.
pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Bool(_) => "bool",
        Value::I8(_) => "byte",
        Value::U8(_) => "unsignedbyte",
        Value::I16(_) => "short",
        Value::U16(_) => "unsignedshort",
        Value::I32(_) => "signedint",
        Value::U32(_) => "unsignedint",
        Value::I64(_) => "long",
        Value::F32(_) => "float",
        Value::F64(_) => "double",
        Value::Decimal { .. } => "decimal",
        Value::LongStr(_) => "longstr",
        Value::Binary(_) => "binary",
        Value::Timestamp(_) => "timestamp",
        Value::Array(_) => "array",
        Value::Table(_) => "table",
        Value::Void => "void",
    }
}

/// `value` as `io_lib:format` prints it with `~p`, or with `~tp` where texts are `unicode`, from `column` (the first is 1) of a
/// line on. What is longer than the line is broken.
pub fn print(value: &Value, unicode: bool, column: usize) -> String {
    layout::lay_out(&node(value, unicode), column)
}

/// A list of characters as `~p` prints it: `"text"` when all of them are printable, else `[116,8364]`.
pub fn string(characters: &str) -> String {
    if characters.chars().all(is_printable) {
        quoted(characters.chars(), '"')
    } else {
        format!("[{}]", numbers(characters.chars().map(u32::from)))
    }
}

/// A name as Erlang prints an atom of it: in single quotes unless it is a plain word that starts with a lower-case letter.
pub fn atom(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '@');
    if plain {
        return name.to_owned();
    }
    quoted(name.chars(), '\'')
}

/// What Erlang takes for printable text: Latin-1 without most control characters.
fn is_printable(character: char) -> bool {
    matches!(character, '\u{20}'..='\u{7e}' | '\u{a0}'..='\u{ff}' | '\u{8}'..='\u{d}' | '\u{1b}')
}

fn is_printable_unicode(character: char) -> bool {
    is_printable(character) || (character > '\u{ff}' && !matches!(character, '\u{fffe}' | '\u{ffff}'))
}

fn node(value: &Value, unicode: bool) -> Node {
    let typed = |value: &Value| (type_name(value), node(value, unicode));
    match value {
        Value::Bool(flag) => Node::Plain(flag.to_string()),
        Value::F32(number) => Node::Plain(float(f64::from(*number))),
        Value::F64(number) => Node::Plain(float(*number)),
        Value::Decimal { scale, unscaled } => {
            Node::Tuple(vec![Node::Plain(scale.to_string()), Node::Plain(unscaled.to_string())])
        }
        Value::LongStr(bytes) | Value::Binary(bytes) => binary(bytes, unicode),
        Value::Array(items) if items.is_empty() => Node::Plain("[]".to_owned()),
        // [{signedint,1},{longstr,<<"a">>}]
        Value::Array(items) => Node::List(
            items
                .iter()
                .map(|item| {
                    let (kind, item) = typed(item);
                    Node::Tagged(kind, vec![item])
                })
                .collect(),
        ),
        Value::Table(table) if table.is_empty() => Node::Plain("[]".to_owned()),
        // [{<<"a">>,signedint,1}]
        Value::Table(table) => Node::List(
            table
                .iter()
                .map(|(name, value)| {
                    let (kind, value) = typed(value);
                    Node::Tuple(vec![binary(name.as_bytes(), unicode), Node::Plain(kind.to_owned()), value])
                })
                .collect(),
        ),
        Value::Void => Node::Plain("undefined".to_owned()),
        Value::Timestamp(number) => Node::Plain(number.to_string()),
        Value::I8(number) => Node::Plain(number.to_string()),
        Value::U8(number) => Node::Plain(number.to_string()),
        Value::I16(number) => Node::Plain(number.to_string()),
        Value::U16(number) => Node::Plain(number.to_string()),
        Value::I32(number) => Node::Plain(number.to_string()),
        Value::U32(number) => Node::Plain(number.to_string()),
        Value::I64(number) => Node::Plain(number.to_string()),
    }
}

/// `<<"text">>` for ASCII text, `<<"text"/utf8>>` for other text where Unicode is printed; else Latin-1 text when every byte is
/// a printable Latin-1 character, else `<<1,2,3>>`.
fn binary(bytes: &[u8], unicode: bool) -> Node {
    match std::str::from_utf8(bytes) {
        Ok("") => Node::Plain("<<>>".to_owned()),
        Ok(text) if unicode && !text.is_ascii() => {
            if text.chars().all(is_printable_unicode) {
                Node::Plain(format!("<<{}/utf8>>", quoted(text.chars(), '"')))
            } else {
                byte_numbers(bytes)
            }
        }
        _ if bytes.iter().all(|byte| is_printable(char::from(*byte))) => {
            Node::Plain(format!("<<{}>>", quoted(bytes.iter().map(|byte| char::from(*byte)), '"')))
        }
        _ => byte_numbers(bytes),
    }
}

fn byte_numbers(bytes: &[u8]) -> Node {
    Node::Bytes(format!("<<{}>>", numbers(bytes.iter().copied().map(u32::from))))
}

fn numbers(numbers: impl Iterator<Item = u32>) -> String {
    let mut out = String::new();
    for (index, number) in numbers.enumerate() {
        if index > 0 {
            out.push(',');
        }
        out.push_str(&number.to_string());
    }
    out
}

fn quoted(characters: impl Iterator<Item = char>, quote: char) -> String {
    let mut out = String::from(quote);
    for character in characters {
        match character {
            c if c == quote || c == '\\' => out.extend(['\\', c]),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{b}' => out.push_str("\\v"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            '\u{1b}' => out.push_str("\\e"),
            c => out.push(c),
        }
    }
    out.push(quote);
    out
}

/// The shortest digits that read back as the same number, in the shorter of the two notations: `0.1`, `1.0e3`. From 2⁵³ on,
/// where a plain notation would show digits that mean nothing, always with an exponent.
fn float(number: f64) -> String {
    // Rust's exponent form has the same digits: "6e4", "1.25e-7".
    let shortest = format!("{number:e}");
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let fraction = if mantissa.contains('.') { "" } else { ".0" };
    let scientific = format!("{mantissa}{fraction}e{exponent}");
    let whole = if number.fract() == 0.0 { ".0" } else { "" };
    let plain = format!("{number}{whole}");
    let short = plain.len() <= scientific.len() && number.abs() < EXACT_LIMIT;
    if short { plain } else { scientific }
}

/// 2⁵³
const EXACT_LIMIT: f64 = 9_007_199_254_740_992.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Table;

    /// Each line was printed by `io_lib:format("~p", [F])` of Erlang/OTP 25 and 29.
    #[test]
    fn floats_print_as_erlang_prints_them() {
        for (number, printed) in [
            (9_007_199_254_740_992.0, "9.007199254740992e15"),
            (9_007_199_254_740_991.0, "9007199254740991.0"),
            (1.0e22, "1.0e22"),
            (123_456_789_012_345_680.0, "1.2345678901234568e17"),
            (1.0e-5, "1.0e-5"),
            (0.001, "0.001"),
            (0.0001, "0.0001"),
            (1234.5e10, "1.2345e13"),
            (4.5e15, "4.5e15"),
            (-0.0, "-0.0"),
            (-1000.0, "-1.0e3"),
            (60_000.0, "6.0e4"),
            (0.1, "0.1"),
        ] {
            assert_eq!(print(&Value::F64(number), true, 1), printed);
        }
        // A binary32 is widened first.
        assert_eq!(print(&Value::F32(0.1), true, 1), "0.10000000149011612");
    }

    /// Each line was printed by Erlang/OTP 25 (`~p`) and 27 (`~tp`).
    #[test]
    fn byte_strings_inside_terms_print_as_text_where_they_are_text() {
        for (bytes, latin1, unicode) in [
            (&b""[..], "<<>>", "<<>>"),
            (b"a\"b\\c\n\x1b", r#"<<"a\"b\\c\n\e">>"#, r#"<<"a\"b\\c\n\e">>"#),
            (b"\0", "<<0>>", "<<0>>"),
            (b"\x7f", "<<127>>", "<<127>>"),
            (b"\xe4", "<<\"\u{e4}\">>", "<<\"\u{e4}\">>"),
            ("ä".as_bytes(), "<<\"\u{c3}\u{a4}\">>", "<<\"ä\"/utf8>>"),
            ("a日".as_bytes(), "<<97,230,151,165>>", "<<\"a日\"/utf8>>"),
            ("\u{80}".as_bytes(), "<<194,128>>", "<<194,128>>"),
            ("\u{ffff}".as_bytes(), "<<\"\u{ef}\u{bf}\u{bf}\">>", "<<239,191,191>>"),
        ] {
            let value = Value::Array(vec![Value::LongStr(bytes.to_vec())]);
            assert_eq!(print(&value, false, 1), format!("[{{longstr,{latin1}}}]"));
            assert_eq!(print(&value, true, 1), format!("[{{longstr,{unicode}}}]"));
        }
    }

    #[test]
    fn texts_with_characters_outside_latin1_print_as_numbers() {
        assert_eq!(string("it's"), "\"it's\"");
        assert_eq!(string("ä"), "\"ä\"");
        assert_eq!(string("日a"), "[26085,97]");
    }

    #[test]
    fn atoms_that_are_no_plain_words_are_quoted() {
        assert_eq!(atom("fanout"), "fanout");
        assert_eq!(atom("x-delayed-message"), "'x-delayed-message'");
    }

    #[test]
    fn tables_and_arrays_show_the_types_of_what_they_hold() {
        // Refusals of 3.8.9 to 4.3.6.
        let table = Table::new().with("a", Value::I32(1));
        assert_eq!(print(&Value::Table(table), true, 1), r#"[{<<"a">>,signedint,1}]"#);
        assert_eq!(print(&Value::Array(vec![Value::I32(1), Value::I32(2)]), true, 1), "[{signedint,1},{signedint,2}]");
    }
}
