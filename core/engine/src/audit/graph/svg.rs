//! The picture itself, without any other tool.

use super::layout::{HEIGHT, LONGEST, Place, layout};
use super::text::colour;
use super::{EdgeKind, Graph, Node, NodeKind};
use crate::audit::codes::Severity;
use std::fmt::Write as _;

const STYLE: &str = "text{font:11px Helvetica,Arial,sans-serif;fill:#1a202c}.kind,.key{font-size:9px;fill:#4a5568}.key{paint-order:stroke;stroke:#fff;stroke-width:3px}.node rect{fill:#fff;stroke-width:1.2}.node.queue rect{fill:#f7fafc}.node.exchange rect{fill:#ebf4ff}.node.missing rect{stroke-dasharray:4 3}.node.warning rect,.node.error rect{stroke-width:2.5}.node.error rect{fill:#fff5f5}path{fill:none;stroke-width:1.2}.binding{stroke:#4a5568}.alternate{stroke:#a0aec0;stroke-dasharray:2 3}.dead{stroke:#c0262d;stroke-dasharray:6 3}.retry{stroke:#2b6cb0;stroke-dasharray:6 3}";

impl Graph {
    /// A self-contained SVG.
    pub fn to_svg(&self) -> String {
        let layout = layout(self);
        let legend = 40;
        let (width, height) = (layout.width.max(520), layout.height + legend);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\">\n<title>{}</title>\n<style>{STYLE}</style>\n<defs>",
            escaped(&self.title)
        );
        for (name, colour) in
            [("binding", "#4a5568"), ("alternate", "#a0aec0"), ("dead", "#c0262d"), ("retry", "#2b6cb0")]
        {
            let _ = write!(
                out,
                "<marker id=\"{name}\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" style=\"fill:{colour}\"/></marker>"
            );
        }
        out.push_str("</defs>\n");
        for edge in &self.edges {
            let (Some(from), Some(to)) = (layout.places.get(edge.from), layout.places.get(edge.to)) else { continue };
            let class = class_of(edge.kind);
            let (path, x, y) = curve(*from, *to, edge.kind);
            let _ = write!(
                out,
                "<g class=\"edge\" data-from=\"{}\" data-to=\"{}\"><path class=\"{class}\" d=\"{path}\" marker-end=\"url(#{class})\"/>",
                edge.from, edge.to
            );
            if !edge.label.is_empty() {
                let _ = write!(
                    out,
                    "<text class=\"key\" x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">{}</text>",
                    escaped(&cut(&edge.label, LONGEST))
                );
            }
            out.push_str("</g>\n");
        }
        for (number, node) in self.nodes.iter().enumerate() {
            if let Some(place) = layout.places.get(number) {
                draw(&mut out, number, node, *place);
            }
        }
        let y = height - 14;
        let mut x = 24;
        for (class, word) in [
            ("binding", "binding"),
            ("alternate", "alternate exchange"),
            ("dead", "dead letters"),
            ("retry", "after waiting"),
        ] {
            let _ = writeln!(
                out,
                "<path class=\"{class}\" d=\"M{x} {}h30\" marker-end=\"url(#{class})\"/><text class=\"kind\" x=\"{}\" y=\"{y}\">{word}</text>",
                y - 3,
                x + 36
            );
            x += 120;
        }
        out.push_str("</svg>\n");
        out
    }
}

pub(super) const fn class_of(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Binding => "binding",
        EdgeKind::Alternate => "alternate",
        EdgeKind::DeadLetter => "dead",
        EdgeKind::Retry => "retry",
    }
}

fn draw(out: &mut String, number: usize, node: &Node, place: Place) {
    let kind = match node.kind {
        NodeKind::Exchange(_) => "exchange",
        NodeKind::Queue(_) => "queue",
        NodeKind::Missing => "missing",
    };
    let severity = node.severity.map_or("", Severity::name);
    let round = if kind == "exchange" { HEIGHT / 2 } else { 4 };
    let Place { x, y, width } = place;
    let _ = write!(
        out,
        "<g class=\"node {kind} {severity}\" id=\"n{number}\" data-name=\"{}\"><title>{}</title><rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{HEIGHT}\" rx=\"{round}\" stroke=\"{}\"/><text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text><text class=\"kind\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
        escaped(&node.names.join("\n")),
        escaped(&tooltip(node)),
        colour(node.severity),
        x + width / 2,
        y + 15,
        escaped(&cut(&node.label(), LONGEST)),
        x + width / 2,
        y + 27,
        escaped(node.kind_name())
    );
    if node.severity > Some(Severity::Info) {
        let colour = colour(node.severity);
        let _ = write!(
            out,
            "<circle cx=\"{}\" cy=\"{y}\" r=\"8\" fill=\"{colour}\"/><text x=\"{}\" y=\"{}\" text-anchor=\"middle\" style=\"fill:#fff;font-weight:bold\">!</text>",
            x + width,
            x + width,
            y + 4
        );
    }
    out.push_str("</g>\n");
}

fn tooltip(node: &Node) -> String {
    const NAMES: usize = 20;
    let mut lines: Vec<String> = node.names.iter().take(NAMES).cloned().collect();
    if node.names.len() > NAMES {
        lines.push(format!("and {} more", node.names.len() - NAMES));
    }
    lines.extend(node.findings.iter().take(NAMES).cloned());
    lines.join("\n")
}

/// The curve from one box to another, and the place of its label.
fn curve(from: Place, to: Place, kind: EdgeKind) -> (String, usize, usize) {
    let (start_x, start_y) = (from.x + from.width, from.y + HEIGHT / 2);
    let (end_x, end_y) = (to.x, to.y + HEIGHT / 2);
    if end_x > start_x {
        let bend = (end_x - start_x) / 2;
        let path = format!(
            "M{start_x} {start_y}C{} {start_y} {} {end_y} {end_x} {end_y}",
            start_x + bend,
            end_x.saturating_sub(bend)
        );
        return (path, start_x + bend, (start_y + end_y) / 2 - 3);
    }
    // Back to the left: out below the one box and in below the other.
    let (start_x, start_y) = (from.x + from.width / 2, from.y + HEIGHT);
    let (end_x, end_y) = (to.x + to.width / 2, to.y + HEIGHT);
    let down = start_y.max(end_y) + if kind == EdgeKind::Retry { 34 } else { 22 };
    let path = format!("M{start_x} {start_y}C{start_x} {down} {end_x} {down} {end_x} {end_y}");
    (path, (start_x + end_x) / 2, down - 8)
}

/// At most so many characters.
fn cut(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    text.chars().take(longest - 1).chain(['…']).collect()
}

/// A text inside markup.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' => out.push('\n'),
            c if c.is_control() => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out
}
