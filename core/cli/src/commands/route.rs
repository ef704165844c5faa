//! `route`: where a message goes.

use crate::cli::RouteArguments;
use crate::failure::Failure;
use crate::input;
use crate::output::{Report, json};
use acemq_core::routing::{Envelope, Router};
use acemq_core::topology::shown_name;
use acemq_core::value::{Table, Value};

/// The queues that get a copy; with `--explain`, and where none does, the reasons too.
pub fn route(arguments: &RouteArguments) -> Result<Report, Failure> {
    let state = input::state(&arguments.state)?;
    let headers = headers(arguments)?;
    let router = Router::of(&state);
    let envelope = Envelope::new(arguments.exchange.as_str(), &arguments.key).with_headers(&headers);
    let explanation = router.explain(&envelope);
    if arguments.format.is_json() {
        return Ok(Report::done(json(&explanation.to_document())));
    }
    if arguments.explain || explanation.copies.is_empty() {
        return Ok(Report::done(explanation.to_text()));
    }
    Ok(Report::done(explanation.copies.iter().map(|copy| format!("{}\n", shown_name(&copy.queue))).collect::<String>()))
}

/// `--headers` with types, then each `--header` as a text.
fn headers(arguments: &RouteArguments) -> Result<Table, Failure> {
    let mut headers = match &arguments.headers {
        Some(text) => serde_json::from_str::<Table>(text)
            .map_err(|error| Failure::input(format!("--headers takes a JSON object of headers: {error}")))?,
        None => Table::new(),
    };
    for header in &arguments.header {
        let (name, value) = header
            .split_once('=')
            .ok_or_else(|| Failure::input(format!("--header takes NAME=VALUE, not \"{}\"", shown_name(header))))?;
        headers.insert(name, Value::text(value));
    }
    Ok(headers)
}
