//! The picture for tools that draw: Graphviz and Mermaid.

use super::{Atlas, Edge, EdgeKind, Graph, NodeKind, turns};
use crate::audit::codes::Severity;
use std::fmt::Write as _;

pub(super) const fn colour(severity: Option<Severity>) -> &'static str {
    match severity {
        Some(Severity::Error) => "#c0262d",
        Some(Severity::Warning) => "#b7791f",
        Some(Severity::Info) | None => "#4a5568",
    }
}

const DOT_HEAD: &str =
    "  rankdir=LR;\n  node [fontname=\"Helvetica\", fontsize=11];\n  edge [fontname=\"Helvetica\", fontsize=9];\n";

impl Graph {
    /// For Graphviz: `dot -Tsvg`.
    pub fn to_dot(&self) -> String {
        let mut out = format!("digraph vhost {{\n{DOT_HEAD}");
        self.dot(&mut out, "  ", "n");
        out.push_str("}\n");
        out
    }

    /// Its statements; the names of its nodes begin with `prefix`.
    fn dot(&self, out: &mut String, indent: &str, prefix: &str) {
        let _ = writeln!(out, "{indent}label={};", quoted(&self.title));
        for (number, node) in self.nodes.iter().enumerate() {
            let (shape, style) = match node.kind {
                NodeKind::Exchange(_) => ("ellipse", "solid"),
                NodeKind::Queue(_) => ("box", "rounded"),
                NodeKind::Missing => ("box", "dashed"),
            };
            let label = format!("{}\n{}", node.label(), node.kind_name());
            let _ = write!(
                out,
                "{indent}{prefix}{number} [label={}, shape={shape}, style=\"{style}\", color=\"{}\"",
                quoted(&label),
                colour(node.severity)
            );
            if node.severity > Some(Severity::Info) {
                out.push_str(", penwidth=2");
            }
            if !node.findings.is_empty() {
                let _ = write!(out, ", tooltip={}", quoted(&node.findings.join("\n")));
            }
            out.push_str("];\n");
        }
        for Edge { from, to, kind, label } in &self.edges {
            let style = match kind {
                EdgeKind::Binding => "color=\"#2d3748\"",
                EdgeKind::Alternate => "color=\"#718096\", style=dotted",
                EdgeKind::DeadLetter => "color=\"#c0262d\", style=dashed",
                EdgeKind::Retry => "color=\"#2b6cb0\", style=dashed, constraint=false",
            };
            let _ = writeln!(out, "{indent}{prefix}{from} -> {prefix}{to} [label={}, {style}];", quoted(label));
        }
    }

    /// For Mermaid, as Markdown renderers draw it.
    pub fn to_mermaid(&self) -> String {
        let mut out = String::from("flowchart LR\n");
        self.mermaid(&mut out, "  ", "n");
        mermaid_styles(&mut out, &[("n".to_owned(), self)]);
        out
    }

    fn mermaid(&self, out: &mut String, indent: &str, prefix: &str) {
        for (number, node) in self.nodes.iter().enumerate() {
            let label = format!("{}<br/>{}", plain(&node.label()), plain(node.kind_name()));
            let _ = match node.kind {
                NodeKind::Exchange(_) => writeln!(out, "{indent}{prefix}{number}([\"{label}\"])"),
                NodeKind::Queue(_) => writeln!(out, "{indent}{prefix}{number}[\"{label}\"]"),
                NodeKind::Missing => writeln!(out, "{indent}{prefix}{number}{{{{\"{label}\"}}}}"),
            };
        }
        for Edge { from, to, kind, label } in &self.edges {
            let arrow = match kind {
                EdgeKind::Binding => "-->",
                EdgeKind::Alternate | EdgeKind::DeadLetter => "-.->",
                EdgeKind::Retry => "==>",
            };
            let label = match kind {
                EdgeKind::Binding => plain(label),
                EdgeKind::Alternate => "otherwise".to_owned(),
                EdgeKind::DeadLetter => format!("dead {}", plain(label)).trim_end().to_owned(),
                EdgeKind::Retry => format!("later {}", plain(label)).trim_end().to_owned(),
            };
            let label = if label.is_empty() { String::new() } else { format!("|\"{label}\"|") };
            let _ = writeln!(out, "{indent}{prefix}{from} {arrow}{label} {prefix}{to}");
        }
    }
}

/// Lines are numbered through all that is drawn, in order.
fn mermaid_styles(out: &mut String, graphs: &[(String, &Graph)]) {
    for (kind, colour) in [(EdgeKind::DeadLetter, "#c0262d"), (EdgeKind::Retry, "#2b6cb0")] {
        let edges = graphs.iter().flat_map(|(_, graph)| &graph.edges).enumerate();
        let numbers = edges.filter(|(_, edge)| edge.kind == kind);
        let numbers: Vec<String> = numbers.map(|(number, _)| number.to_string()).collect();
        if !numbers.is_empty() {
            let _ = writeln!(out, "  linkStyle {} stroke:{colour}", numbers.join(","));
        }
    }
    for severity in [Severity::Error, Severity::Warning] {
        let marked = graphs.iter().flat_map(|(prefix, graph)| {
            let marked = graph.nodes.iter().enumerate().filter(|(_, node)| node.severity == Some(severity));
            marked.map(move |(number, _)| format!("{prefix}{number}"))
        });
        let marked: Vec<String> = marked.collect();
        if !marked.is_empty() {
            let _ = writeln!(out, "  classDef {severity} stroke:{},stroke-width:3px", colour(Some(severity)));
            let _ = writeln!(out, "  class {} {severity}", marked.join(","));
        }
    }
}

impl Atlas {
    /// For Graphviz, a cluster for each vhost.
    pub fn to_dot(&self) -> String {
        let mut out = format!("digraph vhosts {{\n{DOT_HEAD}");
        for (number, graph) in self.graphs.iter().enumerate() {
            let _ = writeln!(out, "  subgraph cluster_{number} {{");
            graph.dot(&mut out, "    ", &format!("v{number}n"));
            out.push_str("  }\n");
        }
        out.push_str("}\n");
        out
    }

    /// For Mermaid, a subgraph for each vhost.
    pub fn to_mermaid(&self) -> String {
        let mut out = String::from("flowchart LR\n");
        let named: Vec<(String, &Graph)> =
            self.graphs.iter().enumerate().map(|(number, graph)| (format!("v{number}n"), graph)).collect();
        for (number, (prefix, graph)) in named.iter().enumerate() {
            let _ = writeln!(out, "  subgraph v{number}[\"{}\"]", plain(&graph.title));
            graph.mermaid(&mut out, "    ", prefix);
            out.push_str("  end\n");
        }
        mermaid_styles(&mut out, &named);
        out
    }
}

/// A text as Graphviz quotes it.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() || turns(c) => {
                // The backslash itself is shown.
                out.push('\\');
                out.extend(c.escape_unicode());
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A text that Mermaid takes inside quotes: what has a meaning there is written as a number.
fn plain(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '"' | '#' | '<' | '>' | '&' | ';' | '|' | '`' => {
                let _ = write!(out, "#{};", u32::from(c));
            }
            c if c.is_control() || turns(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}
