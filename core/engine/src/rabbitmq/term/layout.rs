//! Line breaks inside a printed term.
//!
//! A term that fits into the rest of an 80-column line is printed on it. Otherwise the elements of a list or tuple stand one
//! below another, except that a plain word or number follows its predecessor while there is room. A tuple that starts with
//! a word keeps it on its first line and puts the rest behind it, or closer to the margin when that would be too far right.

/// The width of a line.
const LINE: usize = 80;
/// A broken tuple's elements start left of this column.
const HALF: usize = LINE / 2;

/// A term as pieces that can be laid out.
#[derive(Debug)]
pub(super) enum Node {
    /// What is never broken: a number, a word, a quoted text.
    Plain(String),
    /// `<<1,2,3>>`, which may be broken after each comma.
    Bytes(String),
    /// `[…]`
    List(Vec<Node>),
    /// `{…}`
    Tuple(Vec<Node>),
    /// `{word,…}`
    Tagged(&'static str, Vec<Node>),
}

impl Node {
    /// Characters on one line.
    fn len(&self) -> usize {
        match self {
            Self::Plain(text) | Self::Bytes(text) => text.chars().count(),
            Self::List(items) | Self::Tuple(items) => {
                let inside: usize = items.iter().map(Self::len).sum();
                inside + items.len().saturating_sub(1) + 2
            }
            Self::Tagged(word, items) => word.len() + items.iter().map(|item| 1 + item.len()).sum::<usize>() + 2,
        }
    }

    fn is_plain(&self) -> bool {
        matches!(self, Self::Plain(_))
    }

    /// Appends the term on one line.
    pub(super) fn write(&self, out: &mut String) {
        match self {
            Self::Plain(text) | Self::Bytes(text) => out.push_str(text),
            Self::List(items) => write_all(out, "[", items, ']'),
            Self::Tuple(items) => write_all(out, "{", items, '}'),
            Self::Tagged(word, items) => {
                out.push('{');
                out.push_str(word);
                write_all(out, ",", items, '}');
            }
        }
    }
}

fn write_all(out: &mut String, before: &str, items: &[Node], after: char) {
    for (index, item) in items.iter().enumerate() {
        out.push_str(if index > 0 { "," } else { before });
        item.write(out);
    }
    out.push(after);
}

/// Where the elements of a broken tuple go that starts with a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Indent {
    /// Behind the word.
    Behind,
    /// So many columns right of the tuple.
    By(usize),
}

/// A tuple would start too far to the right.
struct TooFar;

/// `node` as it is printed from `column` on, the first column being 1.
pub(super) fn lay_out(node: &Node, column: usize) -> String {
    for indent in [Indent::Behind, Indent::By(4), Indent::By(1)] {
        let mut page = Page { out: String::new(), indent, total: node.len(), line_start: column };
        if page.node(node, column, 0).is_ok() {
            return page.out;
        }
    }
    let mut out = String::new();
    node.write(&mut out);
    out
}

struct Page {
    out: String,
    indent: Indent,
    /// Length of the whole term on one line.
    total: usize,
    /// The column where the current line of the term starts.
    line_start: usize,
}

impl Page {
    /// Prints `node` at `column`; `closing` brackets follow it on its last line.
    fn node(&mut self, node: &Node, column: usize, closing: usize) -> Result<(), TooFar> {
        if fits(node.len(), column, closing) {
            node.write(&mut self.out);
            return Ok(());
        }
        match node {
            Node::Plain(text) => self.out.push_str(text),
            Node::Bytes(text) => self.bytes(text, column + 2, closing),
            Node::List(items) => {
                self.out.push('[');
                self.items(items, column + 1, closing)?;
                self.out.push(']');
            }
            Node::Tuple(items) => {
                self.out.push('{');
                self.items(items, column + 1, closing)?;
                self.out.push('}');
            }
            Node::Tagged(word, rest) => {
                self.out.push('{');
                self.tagged(word, rest, column, closing)?;
                self.out.push('}');
            }
        }
        Ok(())
    }

    fn tagged(&mut self, word: &str, rest: &[Node], column: usize, closing: usize) -> Result<(), TooFar> {
        self.out.push_str(word);
        let behind = word.len() + 2;
        match self.indent {
            Indent::By(by) if behind > by => {
                if by > 1 && column + by > HALF {
                    return Err(TooFar);
                }
                self.following(rest, column + by, column + behind, closing)
            }
            Indent::Behind if column + behind >= HALF => Err(TooFar),
            _ => {
                self.out.push(',');
                self.items(rest, column + behind, closing)
            }
        }
    }

    /// Prints elements from `column` on.
    fn items(&mut self, items: &[Node], column: usize, closing: usize) -> Result<(), TooFar> {
        let Some((first, rest)) = items.split_first() else { return Ok(()) };
        let end = self.element(first, column, closing_after(rest, closing))?;
        self.following(rest, column, end, closing)
    }

    /// Prints the elements after the one that ended before column `end`; new lines start at `column`.
    fn following(&mut self, items: &[Node], column: usize, mut end: usize, closing: usize) -> Result<(), TooFar> {
        let mut items = items;
        while let Some((item, rest)) = items.split_first() {
            let closing_here = closing_after(rest, closing);
            let wide = 1 + item.len() + usize::from(closing_here == 0);
            self.out.push(',');
            if item.is_plain() && fits(wide, end, closing_here) {
                item.write(&mut self.out);
                end += 1 + item.len();
            } else {
                self.out.push('\n');
                self.out.extend(std::iter::repeat_n(' ', column.saturating_sub(1)));
                self.line_start = column;
                end = self.element(item, column, closing_here)?;
            }
            items = rest;
        }
        Ok(())
    }

    /// Prints one element and tells where it ends. Nothing follows on the line of one that is not plain.
    fn element(&mut self, item: &Node, column: usize, closing: usize) -> Result<usize, TooFar> {
        self.node(item, column, closing)?;
        Ok(if item.is_plain() && fits(item.len(), column, closing) { column + item.len() } else { column + LINE })
    }

    /// Prints `<<1,2,3>>` with line breaks after commas.
    fn bytes(&mut self, text: &str, column: usize, closing: usize) {
        let written = column.saturating_sub(2).saturating_sub(self.line_start);
        let room = LINE.saturating_sub(column).min(self.total.saturating_sub(4 + written));
        let room = room.saturating_sub(closing).max(8);
        let inner = text.strip_prefix("<<").and_then(|text| text.strip_suffix(">>")).unwrap_or(text);
        self.out.push_str("<<");
        let mut left = room;
        for number in inner.split_inclusive(',') {
            let length = number.len();
            if length > left {
                self.out.push('\n');
                self.out.extend(std::iter::repeat_n(' ', column.saturating_sub(1)));
                left = room;
            }
            left = left.saturating_sub(length);
            self.out.push_str(number);
        }
        self.out.push_str(">>");
    }
}

fn fits(length: usize, column: usize, closing: usize) -> bool {
    length + column + closing < LINE
}

/// Closing brackets behind an element: those of its container only when it is the last one.
fn closing_after(rest: &[Node], closing: usize) -> usize {
    if rest.is_empty() { closing + 1 } else { 0 }
}
