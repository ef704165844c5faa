//! Shovels and federation: what they name and nobody declares.

use super::Report;
use super::codes::Code;
use super::finding::{Finding, ObjectKind, few, quoted};
use super::world::World;

/// Every shovel into the vhost and every set of upstreams.
pub(super) fn check(world: &World<'_>, report: &mut Report) {
    let links = &world.state.links;
    for (shovel, queue) in links.shovels.iter().filter(|(_, queue)| world.has_queue(queue) == Some(false)) {
        let message = format!(
            "shovel {} writes to queue {}, which is not declared: the shovel makes it, without arguments",
            quoted(shovel),
            quoted(queue)
        );
        let object = world.object(ObjectKind::Parameter, shovel.as_str());
        report.add(Finding::new(Code::ShovelTargetUndeclared, object, message));
    }
    for (set, upstreams) in &links.upstream_sets {
        let missing: Vec<&str> =
            upstreams.iter().map(String::as_str).filter(|upstream| !links.upstreams.contains(*upstream)).collect();
        if !missing.is_empty() {
            let message = format!(
                "the set of upstreams {} names {}, and no upstream of that name is defined",
                quoted(set),
                few(missing.into_iter())
            );
            let object = world.object(ObjectKind::Parameter, set.as_str());
            report.add(Finding::new(Code::FederationUpstreamMissing, object, message));
        }
    }
}
