//! The picture in a page of its own: zoom, search, and the findings beside it, without any network.

use super::Graph;
use super::svg::{LEGEND, class_of, escaped};
use crate::audit::finding::{Finding, ObjectKind};
use std::collections::BTreeMap;
use std::fmt::Write as _;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// Nothing is fetched, whatever a name says.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

impl Graph {
    /// A self-contained HTML page: the picture, a search field, and the findings beside it.
    pub fn to_html(&self) -> String {
        let summary = self.report.summary();
        let mut out = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<header><h1>{title}</h1><input id=\"search\" type=\"search\" placeholder=\"name of a queue or exchange\" aria-label=\"search\" title=\"/ to search, Enter for the next, Esc to end\"><small id=\"count\" aria-live=\"polite\"></small><button id=\"nearer\" title=\"nearer\">+</button><button id=\"farther\" title=\"farther\">−</button><button id=\"all\">everything</button><small class=\"legend\">{legend}</small></header>\n<main>\n<div id=\"picture\">\n{}</div>\n<aside>\n<p>{summary}</p>\n",
            self.to_svg(),
            title = escaped(&self.title),
            legend = LEGEND.map(|(kind, word)| format!("<i class=\"{}\"></i>{word}", class_of(kind))).concat()
        );
        self.findings(&mut out);
        let _ = write!(out, "</aside>\n</main>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n");
        out
    }

    /// The findings, those of one code together.
    fn findings(&self, out: &mut String) {
        const TOGETHER: usize = 4;
        let mut numbers: BTreeMap<(bool, &str), usize> = BTreeMap::new();
        for (number, node) in self.nodes.iter().enumerate() {
            numbers.extend(node.names.iter().map(|name| ((node.is_queue, name.as_str()), number)));
        }
        let mut rest = self.report.findings.as_slice();
        while let Some(first) = rest.first() {
            let alike = rest.iter().take_while(|other| other.code == first.code && other.severity == first.severity);
            let (group, others) = rest.split_at_checked(alike.count().max(1)).unwrap_or((rest, &[]));
            rest = others;
            let (severity, code) = (first.severity, first.code);
            if group.len() < TOGETHER {
                out.push_str("<ul>\n");
                group.iter().for_each(|finding| item(out, finding, &numbers));
                out.push_str("</ul>\n");
                continue;
            }
            let _ = writeln!(
                out,
                "<details class=\"{severity}\"><summary><b>{severity}</b> {} × {}</summary>\n<p><small>{code}: {}</small></p>\n<ul>",
                group.len(),
                escaped(code.about().condition),
                escaped(code.about().why)
            );
            group.iter().for_each(|finding| item(out, finding, &numbers));
            out.push_str("</ul>\n</details>\n");
        }
    }
}

fn item(out: &mut String, finding: &Finding, numbers: &BTreeMap<(bool, &str), usize>) {
    let name = finding.object.name.as_str();
    let key = match finding.object.kind {
        ObjectKind::Queue => Some((true, name)),
        ObjectKind::Exchange => Some((false, name)),
        ObjectKind::Binding => name.split(" -> ").next().map(|source| (false, source)),
        ObjectKind::Policy | ObjectKind::OperatorPolicy | ObjectKind::Parameter | ObjectKind::Suppression => None,
    };
    let severity = finding.severity;
    let _ = match key.and_then(|key| numbers.get(&key)) {
        Some(number) => write!(out, "<li class=\"{severity} at\" data-node=\"{number}\">"),
        None => write!(out, "<li class=\"{severity}\">"),
    };
    let _ = write!(out, "<b>{severity}</b> <bdi>{}</bdi>", escaped(&finding.message));
    if let Some(example) = &finding.example {
        let _ = write!(out, "<p><bdi>{}</bdi></p>", escaped(&example.happens));
    }
    let _ = writeln!(out, "<p>{}: <bdi>{}</bdi></p></li>", finding.code, escaped(&finding.fix));
}
