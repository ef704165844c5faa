//! Taking off the quotes that clients and logs put around a text.

/// Whose escapes a quoted text has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quoting {
    /// Go's `%q`: `\x` and octal escapes are bytes.
    Go,
    /// Python's `repr`: `\x` is a character.
    Python,
    /// JSON and Erlang.
    C,
}

/// At most `limit` bytes of the beginning of `text`.
pub(super) fn beginning(text: &str, limit: usize) -> &str {
    (0..=limit.min(text.len())).rev().find_map(|end| text.get(..end)).unwrap_or_default()
}

/// The text up to the closing `quote`, with its escapes resolved; `None` when it does not close, or when a quote in the
/// middle shows that the text is not escaped.
pub(super) fn quoted(body: &str, quote: char, quoting: Quoting) -> Option<String> {
    let mut escaped = false;
    for (at, c) in body.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => {
                let (inside, after) = body.split_at_checked(at)?;
                let after = after.strip_prefix(quote)?;
                let closes = !after.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '\'' | '"' | '<' | '{'));
                return closes.then(|| unescape(inside, quoting));
            }
            _ => {}
        }
    }
    None
}

/// Resolves backslash escapes; what is no escape stays as it is.
pub(super) fn unescape(text: &str, quoting: Quoting) -> String {
    let mut out = String::with_capacity(text.len());
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (plain, escape) = rest.split_at_checked(at).unwrap_or((rest, ""));
        if !plain.is_empty() {
            flush(&mut bytes, &mut out);
            out.push_str(plain);
        }
        let escape = escape.strip_prefix('\\').unwrap_or_default();
        rest = match one(escape, quoting) {
            Some((Escaped::Character(c), after)) => {
                flush(&mut bytes, &mut out);
                out.push(c);
                after
            }
            Some((Escaped::Byte(byte), after)) => {
                bytes.push(byte);
                after
            }
            None => {
                flush(&mut bytes, &mut out);
                out.push('\\');
                escape
            }
        };
    }
    flush(&mut bytes, &mut out);
    out.push_str(rest);
    out
}

fn flush(bytes: &mut Vec<u8>, out: &mut String) {
    out.push_str(&String::from_utf8_lossy(bytes));
    bytes.clear();
}

enum Escaped {
    Character(char),
    Byte(u8),
}

/// One escape, without its backslash, and what follows it.
fn one(escape: &str, quoting: Quoting) -> Option<(Escaped, &str)> {
    let mut chars = escape.chars();
    let first = chars.next()?;
    let after = chars.as_str();
    let character = match first {
        '"' | '\'' | '\\' | '/' => first,
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'a' => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'v' => '\u{b}',
        'e' if quoting == Quoting::C => '\u{1b}',
        'x' => return hex(after, quoting),
        'u' => return unicode(after),
        'U' => {
            return digits(after, 8, 16).and_then(|(n, after)| Some((Escaped::Character(char::from_u32(n)?), after)));
        }
        '0'..='7' => {
            let (number, after) = digits(escape, 3, 8).or_else(|| digits(escape, 1, 8))?;
            return Some((byte_or_character(number, quoting)?, after));
        }
        _ => return None,
    };
    Some((Escaped::Character(character), after))
}

fn hex(text: &str, quoting: Quoting) -> Option<(Escaped, &str)> {
    if let Some((number, after)) = text.strip_prefix('{').and_then(|text| text.split_once('}')) {
        let character = u32::from_str_radix(number, 16).ok().and_then(char::from_u32)?;
        return Some((Escaped::Character(character), after));
    }
    let (number, after) = digits(text, 2, 16)?;
    Some((byte_or_character(number, quoting)?, after))
}

fn byte_or_character(number: u32, quoting: Quoting) -> Option<Escaped> {
    match quoting {
        Quoting::Go => u8::try_from(number).ok().map(Escaped::Byte),
        Quoting::Python | Quoting::C => char::from_u32(number).map(Escaped::Character),
    }
}

/// `\uXXXX`, or two of them as a surrogate pair.
fn unicode(text: &str) -> Option<(Escaped, &str)> {
    let (first, after) = digits(text, 4, 16)?;
    if let Some(character) = char::from_u32(first) {
        return Some((Escaped::Character(character), after));
    }
    let (second, after) = digits(after.strip_prefix("\\u")?, 4, 16)?;
    let pair = char::decode_utf16([u16::try_from(first).ok()?, u16::try_from(second).ok()?]).next()?.ok()?;
    Some((Escaped::Character(pair), after))
}

fn digits(text: &str, count: usize, radix: u32) -> Option<(u32, &str)> {
    let (number, after) = text.split_at_checked(count)?;
    let all = number.chars().all(|c| c.is_digit(radix));
    Some((u32::from_str_radix(number, radix).ok().filter(|_| all)?, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_language_has_its_own_escapes() {
        assert_eq!(unescape(r#"a\"b\\c\x01"#, Quoting::Go), "a\"b\\c\u{1}");
        assert_eq!(unescape(r"\xc3\xbc", Quoting::Go), "ü");
        assert_eq!(unescape(r"\xc3...", Quoting::Go), "\u{fffd}...");
        assert_eq!(unescape(r"\xfc \u65e5", Quoting::Python), "ü 日");
        assert_eq!(unescape(r"\ud83d\ude00 \x{65e5} \q", Quoting::C), "😀 日 \\q");
    }

    #[test]
    fn a_quote_in_the_middle_shows_that_nothing_is_escaped() {
        assert_eq!(quoted(r#"got float"" rest"#, '"', Quoting::Go), None);
        assert_eq!(quoted(r#"a\"b", more"#, '"', Quoting::Go).as_deref(), Some("a\"b"));
        assert_eq!(quoted("never closed", '"', Quoting::Go), None);
    }
}
