//! `graph`: a vhost as a picture.

use crate::cli::{GraphArguments, Picture};
use crate::failure::Failure;
use crate::input;
use crate::output::Report;
use acemq_core::audit::{self, Options};

/// Exchanges, queues and the ways between them, with findings on the nodes.
pub fn graph(arguments: &GraphArguments) -> Result<Report, Failure> {
    let mut looked = input::look(&arguments.state)?;
    let suppress = std::mem::take(&mut looked.suppress);
    let options = Options { target: arguments.target, partial: looked.partial, suppress };
    let graph = audit::graph(&looked.state, &options, arguments.all);
    Ok(Report::done(match arguments.format {
        Picture::Dot => graph.to_dot(),
        Picture::Mermaid => graph.to_mermaid(),
        Picture::Svg => graph.to_svg(),
        Picture::Html => graph.to_html(),
    }))
}
