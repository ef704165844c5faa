//! `graph`: a vhost as a picture, or several on one.

use crate::cli::{GraphArguments, Picture};
use crate::failure::Failure;
use crate::input::{self, Look, Looked};
use crate::output::Report;
use crate::vhosts::precedence;
use acemq_core::audit::{self, Atlas, Graph, Options};
use acemq_core::topology::shown_name;
use std::io::Write as _;

/// Exchanges, queues and the ways between them, with findings on the nodes.
pub fn graph(arguments: &GraphArguments) -> Result<Report, Failure> {
    if let Some(looks) = input::look_into_each(&arguments.state, &arguments.several)? {
        return several(arguments, looks);
    }
    let graph = drawn(input::look(&arguments.state)?, arguments);
    Ok(Report::done(match arguments.format {
        Picture::Dot => graph.to_dot(),
        Picture::Mermaid => graph.to_mermaid(),
        Picture::Svg => graph.to_svg(),
        Picture::Html => graph.to_html(),
    }))
}

fn drawn(mut looked: Looked, arguments: &GraphArguments) -> Graph {
    let suppress = std::mem::take(&mut looked.suppress);
    let options = Options { target: arguments.target, partial: looked.partial, suppress };
    audit::graph(&looked.state, &options, arguments.all)
}

/// One picture; a vhost that cannot be had is named on standard error, and the others are drawn.
fn several(arguments: &GraphArguments, looks: Vec<Look<'_>>) -> Result<Report, Failure> {
    let draw = match arguments.format {
        Picture::Dot => Atlas::to_dot,
        Picture::Mermaid => Atlas::to_mermaid,
        Picture::Svg | Picture::Html => {
            return Err(Failure::input(
                "svg and html draw one vhost: choose it with --vhost, or draw several with --format dot or mermaid",
            ));
        }
    };
    let (mut graphs, mut code) = (Vec::new(), 0);
    for look in looks {
        let (vhost, looked) = look.now();
        match looked {
            Ok(looked) => graphs.push(drawn(looked, arguments)),
            Err(failure) => {
                let _ = writeln!(std::io::stderr(), "vhost {}\n{}", shown_name(&vhost), failure.message);
                code = [code, failure.code].into_iter().min_by_key(|code| precedence(*code)).unwrap_or(code);
            }
        }
    }
    Ok(Report::done(draw(&Atlas::new(graphs))).with_code(code))
}
