//! The picture itself, without any other tool.

use super::keys::key_places;
use super::layout::{HEIGHT, LONGEST, LONGEST_KEY, Place, Point, layout};
use super::{EdgeKind, Graph, Node, NodeKind, shorten, turns};
use crate::audit::codes::Severity;
use std::fmt::Write as _;

/// Plain colours, which every reader knows, and others for dark screens.
const STYLE: &str = "\
text{font:11px Helvetica,Arial,'DejaVu Sans',sans-serif;fill:#1a202c}\
.ground{fill:#fff}.kind,.key,.more{font-size:9px;fill:#4a5568}\
.key{paint-order:stroke;stroke:#fff;stroke-width:3px}\
.node rect{fill:#f7fafc;stroke:#4a5568;stroke-width:1.2}\
.node.exchange rect{fill:#ebf4ff}\
.node.missing rect{stroke-dasharray:4 3;fill:#fff}\
.node.several rect{stroke-width:3;stroke-linejoin:round}\
.node.warning rect{stroke:#b7791f;stroke-width:2.5}.node.error rect{stroke:#c0262d;stroke-width:2.5;fill:#fff5f5}\
.mark{stroke:none}.warning .mark{fill:#b7791f}.error .mark{fill:#c0262d}.mark+text{fill:#fff;font-weight:bold}\
path{fill:none;stroke-width:1.2}marker path{stroke:none}\
.binding{stroke:#4a5568}.alternate{stroke:#8a94a6;stroke-dasharray:2 3}\
.dead{stroke:#c0262d;stroke-dasharray:7 4}.retry{stroke:#2b6cb0;stroke-width:1.6;stroke-dasharray:9 3 2 3}\
#binding path{fill:#4a5568}#alternate path{fill:#8a94a6}#dead path{fill:#c0262d}#retry path{fill:#2b6cb0}\
@media screen and (prefers-color-scheme:dark){\
text{fill:#edf2f7}.ground{fill:#171923}.kind,.key,.more{fill:#a0aec0}.key{stroke:#171923}\
.node rect{fill:#2d3748;stroke:#a0aec0}.node.exchange rect{fill:#2a4365}.node.missing rect{fill:#171923}\
.node.warning rect{stroke:#ecc94b}.node.error rect{stroke:#fc8181;fill:#4a1d22}\
.warning .mark{fill:#ecc94b}.error .mark{fill:#fc8181}.mark+text{fill:#171923}\
.binding{stroke:#a0aec0}.alternate{stroke:#718096}.dead{stroke:#fc8181}.retry{stroke:#63b3ed}\
#binding path{fill:#a0aec0}#alternate path{fill:#718096}#dead path{fill:#fc8181}#retry path{fill:#63b3ed}}";

pub(super) const LEGEND: [(EdgeKind, &str); 4] = [
    (EdgeKind::Binding, "binding"),
    (EdgeKind::Alternate, "alternate exchange"),
    (EdgeKind::DeadLetter, "dead letters"),
    (EdgeKind::Retry, "back after waiting"),
];

impl Graph {
    /// A self-contained SVG.
    pub fn to_svg(&self) -> String {
        const LEGEND_WIDTH: i64 = 620;
        const LEGEND_HEIGHT: i64 = 40;
        let layout = layout(self);
        let (width, height) = (layout.width.max(LEGEND_WIDTH), layout.height + LEGEND_HEIGHT);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\">\n<title>{}</title>\n<style>{STYLE}</style>\n<defs>",
            escaped(&self.title)
        );
        for (kind, _) in LEGEND {
            let _ = write!(
                out,
                "<marker id=\"{}\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker>",
                class_of(kind)
            );
        }
        let _ = writeln!(out, "</defs>\n<rect class=\"ground\" width=\"{width}\" height=\"{height}\"/>");
        let keys = key_places(self, &layout);
        let left_out = self.edges.iter().zip(&keys).filter(|(edge, at)| !edge.label.is_empty() && at.is_none()).count();
        // Keys stand above every line.
        let mut written = String::new();
        for (number, (edge, way)) in self.edges.iter().zip(&layout.ways).enumerate() {
            let class = class_of(edge.kind);
            let path = match way.as_slice() {
                [at] => own_loop(*at),
                points => curve(points),
            };
            let ends = format!("data-from=\"{}\" data-to=\"{}\"", edge.from, edge.to);
            let _ = writeln!(
                out,
                "<g class=\"edge\" {ends}><title>{}</title><path class=\"{class}\" d=\"{path}\" marker-end=\"url(#{class})\"/></g>",
                escaped(&self.edge_words(number))
            );
            if let Some(Some((x, y))) = keys.get(number) {
                let _ = writeln!(
                    written,
                    "<text class=\"key\" {ends} x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">{}</text>",
                    escaped(&shorten(&edge.label, LONGEST_KEY))
                );
            }
        }
        for (number, node) in self.nodes.iter().enumerate() {
            if let Some(place) = layout.places.get(number) {
                draw(&mut out, number, node, *place);
            }
        }
        out.push_str(&written);
        legend(&mut out, height - 16, left_out);
        out.push_str("</svg>\n");
        out
    }

    /// An edge as a sentence.
    fn edge_words(&self, number: usize) -> String {
        let Some(edge) = self.edges.get(number) else { return String::new() };
        let name = |node: usize| self.nodes.get(node).map(Node::label).unwrap_or_default();
        let word = LEGEND.iter().find(|(kind, _)| *kind == edge.kind).map_or("", |(_, word)| word);
        let key = if edge.label.is_empty() { String::new() } else { format!(" [{}]", edge.label) };
        format!("{word}: {} → {}{key}", name(edge.from), name(edge.to))
    }
}

fn legend(out: &mut String, y: i64, left_out: usize) {
    let mut x = 24;
    out.push_str("<g class=\"legend\">");
    for (kind, word) in LEGEND {
        let class = class_of(kind);
        let _ = write!(
            out,
            "<path class=\"{class}\" d=\"M{x} {}h34\" marker-end=\"url(#{class})\"/><text class=\"more\" x=\"{}\" y=\"{y}\">{word}</text>",
            y - 3,
            x + 40
        );
        x += 140;
    }
    if left_out > 0 {
        let _ = write!(
            out,
            "<text class=\"more\" x=\"24\" y=\"{}\">{left_out} keys have no room: they are in the line's tooltip</text>",
            y + 12
        );
    }
    out.push_str("</g>\n");
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
    let several = if node.names.len() > 1 { " several" } else { "" };
    let round = if kind == "exchange" { HEIGHT / 2 } else { 4 };
    let Place { x, y, width } = place;
    let _ = write!(
        out,
        "<g class=\"node {kind} {severity}{several}\" id=\"n{number}\" data-name=\"{}\"><title>{}</title><rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{HEIGHT}\" rx=\"{round}\"/><text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text><text class=\"kind\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
        escaped(&node.names.join("\n")),
        escaped(&tooltip(node)),
        x + width / 2,
        y + 15,
        escaped(&shorten(&node.label(), LONGEST)),
        x + width / 2,
        y + 27,
        escaped(&shorten(node.kind_name(), LONGEST))
    );
    if node.severity > Some(Severity::Info) {
        let _ = write!(
            out,
            "<circle class=\"mark\" cx=\"{}\" cy=\"{y}\" r=\"8\"/><text x=\"{}\" y=\"{}\" text-anchor=\"middle\">!</text>",
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

/// A line through the points: level where it meets a column.
fn curve(points: &[Point]) -> String {
    let mut out = String::new();
    let mut before: Option<Point> = None;
    for (x, y) in points {
        let _ = match before {
            None => write!(out, "M{x} {y}"),
            Some((_, old_y)) if old_y == *y => write!(out, "H{x}"),
            Some((old_x, old_y)) => {
                let middle = (old_x + x) / 2;
                write!(out, "C{middle} {old_y} {middle} {y} {x} {y}")
            }
        };
        before = Some((*x, *y));
    }
    out
}

/// A loop at the right side of a box.
fn own_loop((x, y): Point) -> String {
    format!("M{x} {}C{} {} {} {} {x} {}", y - 8, x + 34, y - 26, x + 34, y + 26, y + 8)
}

/// A text inside markup. Control characters, and those that turn the direction of what follows, are written out.
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
            c if c.is_control() || turns(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}
