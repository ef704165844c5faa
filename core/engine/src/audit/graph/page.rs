//! The picture in a page of its own with a search, readable without any network.

use super::Graph;
use super::svg::escaped;
use std::fmt::Write as _;

const STYLE: &str = "body{margin:0;font:14px Helvetica,Arial,sans-serif;color:#1a202c;display:flex;flex-direction:column;height:100vh}header{display:flex;gap:16px;align-items:center;padding:8px 16px;border-bottom:1px solid #cbd5e0}h1{font-size:15px;margin:0}input{padding:5px 8px;width:22em;border:1px solid #a0aec0;border-radius:4px}main{display:flex;flex:1;min-height:0}#picture{flex:1;overflow:auto}aside{width:26em;overflow:auto;border-left:1px solid #cbd5e0;padding:8px 16px;box-sizing:border-box}li{margin:0 0 8px;list-style:none}ul{padding:0;margin:0}.error b{color:#c0262d}.warning b{color:#b7791f}.info b{color:#4a5568}.faded{opacity:.12}.found rect{stroke-width:3.5!important}small{color:#4a5568}";

const SCRIPT: &str = "const field=document.getElementById('search'),count=document.getElementById('count'),nodes=[...document.querySelectorAll('g.node')],edges=[...document.querySelectorAll('g.edge')],items=[...document.querySelectorAll('aside li')];function look(){const wanted=field.value.trim().toLowerCase(),hit=new Set();nodes.forEach(n=>{const fits=wanted!==''&&n.dataset.name.toLowerCase().includes(wanted);n.classList.toggle('found',fits);if(fits)hit.add(n.id.slice(1))});const near=new Set(hit);edges.forEach(e=>{const touches=hit.has(e.dataset.from)||hit.has(e.dataset.to);e.classList.toggle('faded',wanted!==''&&!touches);if(touches){near.add(e.dataset.from);near.add(e.dataset.to)}});nodes.forEach(n=>n.classList.toggle('faded',wanted!==''&&!near.has(n.id.slice(1))));items.forEach(i=>i.hidden=wanted!==''&&!i.textContent.toLowerCase().includes(wanted));count.textContent=wanted===''?'':hit.size+' found';const first=nodes.find(n=>n.classList.contains('found'));if(first)first.scrollIntoView({block:'center',inline:'center'})}field.addEventListener('input',look);";

impl Graph {
    /// A self-contained HTML page: the picture, a search field, and the findings beside it.
    pub fn to_html(&self) -> String {
        let mut out = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<header><h1>{title}</h1><input id=\"search\" type=\"search\" placeholder=\"name of a queue or exchange\" aria-label=\"search\"><small id=\"count\"></small></header>\n<main>\n<div id=\"picture\">\n{}</div>\n<aside>\n",
            self.to_svg(),
            title = escaped(&self.title)
        );
        let summary = self.report.summary();
        let _ = writeln!(
            out,
            "<p>{} errors, {} warnings, {} more worth knowing</p>\n<ul>",
            summary.error, summary.warning, summary.info
        );
        for finding in &self.report.findings {
            let _ = write!(
                out,
                "<li class=\"{}\"><b>{}</b> {}",
                finding.severity,
                finding.severity,
                escaped(&finding.message)
            );
            if let Some(example) = &finding.example {
                let _ = write!(out, "<br><small>{}</small>", escaped(&example.happens));
            }
            let _ = writeln!(out, "<br><small>{}: {}</small></li>", finding.code, escaped(&finding.fix));
        }
        let _ = write!(out, "</ul>\n</aside>\n</main>\n<script>{SCRIPT}</script>\n</body>\n</html>\n");
        out
    }
}
