//! How Erlang prints a value inside a refusal.
//!
//! RabbitMQ builds its texts with `io_lib:format`: names and byte strings go in raw, everything else as an Erlang term.

use crate::value::{Table, Value};
use std::fmt::{self, Write as _};

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

/// `value` as `io_lib:format` prints it with `~p`, or with `~tp` where texts are `unicode`, on one line.
pub fn print(value: &Value, unicode: bool) -> String {
    let mut printer = Printer { out: String::new(), unicode };
    printer.value(value);
    printer.out
}

/// A list of characters as `~p` prints it: `"text"` when all of them are printable, else `[116,8364]`.
pub fn string(characters: &str) -> String {
    let mut printer = Printer { out: String::new(), unicode: false };
    if characters.chars().all(is_printable) {
        printer.quoted(characters.chars(), '"');
    } else {
        printer.out.push('[');
        printer.numbers(characters.chars().map(u32::from));
        printer.out.push(']');
    }
    printer.out
}

/// A name as Erlang prints an atom of it: in single quotes unless it is a plain word that starts with a lower-case letter.
pub fn atom(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '@');
    if plain {
        return name.to_owned();
    }
    let mut printer = Printer { out: String::new(), unicode: false };
    printer.quoted(name.chars(), '\'');
    printer.out
}

/// What Erlang takes for printable text: Latin-1 without most control characters.
fn is_printable(character: char) -> bool {
    matches!(character, '\u{20}'..='\u{7e}' | '\u{a0}'..='\u{ff}' | '\u{8}'..='\u{d}' | '\u{1b}')
}

fn is_printable_unicode(character: char) -> bool {
    is_printable(character) || (character > '\u{ff}' && !matches!(character, '\u{fffe}' | '\u{ffff}'))
}

struct Printer {
    out: String,
    unicode: bool,
}

impl Printer {
    fn value(&mut self, value: &Value) {
        match value {
            Value::Bool(flag) => self.out.push_str(if *flag { "true" } else { "false" }),
            Value::F32(number) => self.float(f64::from(*number)),
            Value::F64(number) => self.float(*number),
            Value::Decimal { scale, unscaled } => self.number(format_args!("{{{scale},{unscaled}}}")),
            Value::LongStr(bytes) | Value::Binary(bytes) => self.binary(bytes),
            Value::Array(items) => self.array(items),
            Value::Table(table) => self.table(table),
            Value::Void => self.out.push_str("undefined"),
            Value::Timestamp(n) => self.number(format_args!("{n}")),
            Value::I8(n) => self.number(format_args!("{n}")),
            Value::U8(n) => self.number(format_args!("{n}")),
            Value::I16(n) => self.number(format_args!("{n}")),
            Value::U16(n) => self.number(format_args!("{n}")),
            Value::I32(n) => self.number(format_args!("{n}")),
            Value::U32(n) => self.number(format_args!("{n}")),
            Value::I64(n) => self.number(format_args!("{n}")),
        }
    }

    fn number(&mut self, digits: fmt::Arguments<'_>) {
        let _ = self.out.write_fmt(digits);
    }

    fn numbers(&mut self, numbers: impl Iterator<Item = u32>) {
        for (index, number) in numbers.enumerate() {
            if index > 0 {
                self.out.push(',');
            }
            self.number(format_args!("{number}"));
        }
    }

    /// `[{signedint,1},{longstr,<<"a">>}]`
    fn array(&mut self, items: &[Value]) {
        self.out.push('[');
        for (index, item) in items.iter().enumerate() {
            self.out.push_str(if index > 0 { ",{" } else { "{" });
            self.typed(item);
        }
        self.out.push(']');
    }

    /// `[{<<"a">>,signedint,1}]`
    fn table(&mut self, table: &Table) {
        self.out.push('[');
        for (index, (name, value)) in table.iter().enumerate() {
            self.out.push_str(if index > 0 { ",{" } else { "{" });
            self.binary(name.as_bytes());
            self.out.push(',');
            self.typed(value);
        }
        self.out.push(']');
    }

    fn typed(&mut self, value: &Value) {
        self.out.push_str(type_name(value));
        self.out.push(',');
        self.value(value);
        self.out.push('}');
    }

    /// `<<"text">>` for ASCII text, `<<"text"/utf8>>` for other text where Unicode is printed; else Latin-1 text when every
    /// byte is a printable Latin-1 character, else `<<1,2,3>>`.
    fn binary(&mut self, bytes: &[u8]) {
        self.out.push_str("<<");
        match std::str::from_utf8(bytes) {
            Ok("") => {}
            Ok(text) if self.unicode && !text.is_ascii() => {
                if text.chars().all(is_printable_unicode) {
                    self.quoted(text.chars(), '"');
                    self.out.push_str("/utf8");
                } else {
                    self.numbers(bytes.iter().copied().map(u32::from));
                }
            }
            _ if bytes.iter().all(|byte| is_printable(char::from(*byte))) => {
                self.quoted(bytes.iter().map(|byte| char::from(*byte)), '"');
            }
            _ => self.numbers(bytes.iter().copied().map(u32::from)),
        }
        self.out.push_str(">>");
    }

    fn quoted(&mut self, characters: impl Iterator<Item = char>, quote: char) {
        self.out.push(quote);
        for character in characters {
            match character {
                c if c == quote || c == '\\' => self.out.extend(['\\', c]),
                '\u{8}' => self.out.push_str("\\b"),
                '\t' => self.out.push_str("\\t"),
                '\n' => self.out.push_str("\\n"),
                '\u{b}' => self.out.push_str("\\v"),
                '\u{c}' => self.out.push_str("\\f"),
                '\r' => self.out.push_str("\\r"),
                '\u{1b}' => self.out.push_str("\\e"),
                c => self.out.push(c),
            }
        }
        self.out.push(quote);
    }

    /// The shortest digits that read back as the same number, in the shorter of the two notations: `0.1`, `1.0e3`. From 2⁵³
    /// on, where a plain notation would show digits that mean nothing, always with an exponent.
    fn float(&mut self, number: f64) {
        // Rust's exponent form has the same digits: "6e4", "1.25e-7".
        let shortest = format!("{number:e}");
        let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
        let fraction = if mantissa.contains('.') { "" } else { ".0" };
        let scientific = format!("{mantissa}{fraction}e{exponent}");
        let whole = if number.fract() == 0.0 { ".0" } else { "" };
        let plain = format!("{number}{whole}");
        let short = plain.len() <= scientific.len() && number.abs() < EXACT_LIMIT;
        self.out.push_str(if short { &plain } else { &scientific });
    }
}

/// 2⁵³
const EXACT_LIMIT: f64 = 9_007_199_254_740_992.0;

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(print(&Value::F64(number), true), printed);
        }
        // A binary32 is widened first.
        assert_eq!(print(&Value::F32(0.1), true), "0.10000000149011612");
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
            assert_eq!(print(&value, false), format!("[{{longstr,{latin1}}}]"));
            assert_eq!(print(&value, true), format!("[{{longstr,{unicode}}}]"));
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
        assert_eq!(print(&Value::Table(table), true), r#"[{<<"a">>,signedint,1}]"#);
        assert_eq!(print(&Value::Array(vec![Value::I32(1), Value::I32(2)]), true), "[{signedint,1},{signedint,2}]");
    }
}
