//! The nodes of a cluster: whether it may be changed, and the barrier that waits until each of them knows a change.
//!
//! The answer to a change speaks for the node that was asked. Others apply the same changes in the same order, but later: a
//! queue that is empty for one node may get messages from another one that routes by the old table still, and a confirmed
//! message is lost when the queue goes. So each running node is asked on its own management API whether it knows the change,
//! and proves by its name that it is the one that answers. A passive declaration through each node proves nothing (4.3.6: 21
//! of 4,000 publishes after it were routed by the old table).

use crate::{LOCK_QUEUE, Progress, RunError, Runner, patiently};
use acemq_core::rabbitmq::BindingDeclaration;
use acemq_live::{ApiListener, Management, ManagementError, ManagementFailure, NodeStatus};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// How long a node may take to apply a change. The longest delay of a healthy one that was measured is 0.2 s.
const BARRIER: Duration = Duration::from_secs(60);

/// How long nodes whose own API cannot be asked get to apply a change.
const SETTLE: Duration = Duration::from_secs(5);

/// One look at one node.
const LOOK: Duration = Duration::from_secs(5);

/// The pause between two looks.
const POLL: Duration = Duration::from_millis(50);

/// Where each node's own management API is, as far as it was found.
pub(crate) struct NodeApis {
    listeners: Vec<ApiListener>,
    found: BTreeMap<String, Management>,
}

/// What one look at one node told.
enum Look {
    /// It answered for itself.
    Bound(bool),
    /// Its API is there, and did not answer as it should.
    Silent(String),
    /// Nothing that answers is this node.
    NotFound(String),
}

impl Runner<'_> {
    /// Why the cluster is in no state to be changed, or a queue to be deleted.
    pub(crate) async fn nodes_unfit(&self) -> Result<Option<String>, RunError> {
        let Some(nodes) = self.nodes().await? else { return Ok(None) };
        let Some((node, why)) = nodes.iter().find_map(|node| Some((node, unfit(node)?))) else { return Ok(None) };
        // From 4.3 on an exclusive queue outlives its owner while the node is down, and nobody can delete it.
        let owner = self.management.node_of_queue(self.vhost, LOCK_QUEUE).await;
        let keeps_the_lock = !node.running && owner.is_ok_and(|owner| owner.as_ref() == Some(&node.name));
        let lock = format!("; queue {LOCK_QUEUE}, the lock of a runner that was connected to it, is free again then");
        Ok(Some(format!("{why}{}", if keeps_the_lock { &lock } else { "" })))
    }

    /// The node that keeps the lock of a dead runner: the one that the queue is on, when it is down.
    pub(crate) async fn node_that_keeps_the_lock(&self) -> Option<String> {
        let owner = self.management.node_of_queue(self.vhost, LOCK_QUEUE).await.ok().flatten()?;
        let nodes = self.management.nodes().await.ok()?;
        nodes.into_iter().find(|node| node.name == owner && !node.running).map(|node| node.name)
    }

    /// The nodes; `None` where the user may not see them.
    async fn nodes(&self) -> Result<Option<Vec<NodeStatus>>, RunError> {
        match patiently(async || self.management.nodes().await).await {
            Err(ManagementError { failure: ManagementFailure::Forbidden { .. }, .. }) => Ok(None),
            answered => Ok(Some(answered?)),
        }
    }

    /// Finds the nodes' own APIs while the cluster is well, so that a node that hangs later is known to have one.
    pub(crate) async fn find_node_apis(&self) -> Result<NodeApis, RunError> {
        let mut apis = NodeApis { listeners: Vec::new(), found: BTreeMap::new() };
        let nodes = self.nodes().await?.unwrap_or_default();
        if nodes.len() > 1 {
            apis.listeners = patiently(async || self.management.api_listeners().await).await?;
            // Any binding will do: what counts is who answers.
            let nobody = BindingDeclaration::queue("amq.direct", LOCK_QUEUE, LOCK_QUEUE);
            for node in &nodes {
                self.look(&mut apis, &node.name, &nobody).await;
            }
        }
        Ok(apis)
    }

    /// Waits until every node has applied a change of a binding; why that cannot be told.
    pub(crate) async fn nodes_know(
        &self,
        apis: &mut NodeApis,
        binding: &BindingDeclaration,
        bound: bool,
        progress: &mut impl FnMut(Progress),
    ) -> Result<Option<String>, RunError> {
        let Some(nodes) = self.nodes().await? else {
            progress(Progress::Note(format!(
                "user {} may not see the nodes (that needs the tag monitoring): {} s are waited for all of them, and whether one hangs, is down or has an alarm is not known",
                self.management.url().user(),
                SETTLE.as_secs()
            )));
            sleep(SETTLE).await;
            return Ok(None);
        };
        if let Some(why) = nodes.iter().find_map(unfit) {
            return Ok(Some(format!("{why}; nothing was deleted; run again then")));
        }
        if nodes.len() < 2 {
            return Ok(None);
        }
        let until = Instant::now() + BARRIER;
        let mut missing: BTreeSet<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
        let mut not_found: BTreeMap<&str, String> = BTreeMap::new();
        let mut told = false;
        while !missing.is_empty() {
            let mut late = BTreeMap::new();
            for name in missing.clone() {
                match self.look(apis, name, binding).await {
                    Look::Bound(seen) if seen == bound => {
                        missing.remove(name);
                    }
                    Look::Bound(_) => {
                        late.insert(name, format!("node {name} has not applied the last change"));
                    }
                    Look::Silent(why) => {
                        late.insert(name, format!("node {name} does not answer ({why})"));
                    }
                    Look::NotFound(why) => {
                        missing.remove(name);
                        not_found.insert(name, why);
                    }
                }
            }
            let Some(why) = late.values().next() else { continue };
            if Instant::now() >= until {
                return Ok(Some(format!(
                    "{why} after {} s, and until it has, a message may come into the old queue; see to the node, and run again",
                    BARRIER.as_secs()
                )));
            }
            if !told && late.values().any(|why| why.contains("does not answer")) {
                progress(Progress::Note(format!("{why}; it is waited for, up to {} s", BARRIER.as_secs())));
                told = true;
            }
            sleep(POLL).await;
        }
        if not_found.is_empty() {
            return Ok(None);
        }
        let names: Vec<&str> = not_found.keys().copied().collect();
        let why = not_found.values().next().map(String::as_str).unwrap_or_default();
        progress(Progress::Note(format!(
            "whether {} knows the change cannot be asked ({why}), so {} s are waited; a node that hangs for longer is not covered: give the address of its own management API",
            names.join(", "),
            SETTLE.as_secs()
        )));
        sleep(SETTLE).await;
        let nodes = self.nodes().await?.unwrap_or_default();
        Ok(nodes.iter().find_map(unfit).map(|why| format!("{why}; nothing was deleted; run again then")))
    }

    /// Asks a node on its own API whether it knows a binding.
    async fn look(&self, apis: &mut NodeApis, node: &str, binding: &BindingDeclaration) -> Look {
        if let Some(api) = apis.found.get(node) {
            return match ask(api, self.vhost, node, binding).await {
                // What was its own address is no one else's for good; a proxy in between may have a bad moment.
                Look::NotFound(why) => Look::Silent(why),
                look => look,
            };
        }
        let mut silent = None;
        let mut last = "it tells no address".to_owned();
        for api in self.candidates(&apis.listeners, node) {
            match ask(&api, self.vhost, node, binding).await {
                Look::Bound(bound) => {
                    apis.found.insert(node.to_owned(), api);
                    return Look::Bound(bound);
                }
                Look::Silent(why) => silent = Some(format!("{}: {why}", api.url())),
                Look::NotFound(why) => last = format!("{}: {why}", api.url()),
            }
        }
        silent.map_or(Look::NotFound(last), Look::Silent)
    }

    /// Where a node's API may be: what the operator says, what was given for the cluster, the host in the node's name and
    /// the host of the cluster's API with the port on which the node says that it listens.
    fn candidates(&self, listeners: &[ApiListener], node: &str) -> Vec<Management> {
        let given = self.management.url();
        let mut urls = self.node_apis.clone();
        urls.push(given.clone());
        let host = node.split_once('@').map_or("", |(_, host)| host);
        let same_scheme = |listener: &&ApiListener| listener.is_secured == given.tls().is_some();
        for listener in listeners.iter().filter(|listener| listener.node == node).filter(same_scheme) {
            urls.push(given.clone().at(host, listener.port));
            if listener.port != given.port() {
                urls.push(given.clone().at(given.host(), listener.port));
            }
        }
        urls.into_iter().filter_map(|url| Management::new(url, self.management.limits()).ok()).collect()
    }
}

async fn ask(api: &Management, vhost: &str, node: &str, binding: &BindingDeclaration) -> Look {
    match timeout(LOOK, api.sees_binding(vhost, binding)).await {
        Err(_) => Look::Silent(format!("nothing within {} s", LOOK.as_secs())),
        Ok(Ok(seen)) => match seen.node {
            Some(name) if name == node => Look::Bound(seen.bound),
            Some(name) => Look::NotFound(format!("{name} answers there")),
            None => Look::NotFound("several nodes answer there".to_owned()),
        },
        Ok(Err(error)) => match error.failure {
            ManagementFailure::Lost { .. } | ManagementFailure::Timeout { .. } | ManagementFailure::Refused { .. } => {
                Look::Silent(error.failure.to_string())
            }
            failure => Look::NotFound(failure.to_string()),
        },
    }
}

/// Why a node is in no state to be worked with, as a sentence with the way out.
fn unfit(node: &NodeStatus) -> Option<String> {
    if !node.running {
        Some(format!("node {} is not running: start it, or take it out of the cluster", node.name))
    } else if node.mem_alarm || node.disk_free_alarm {
        Some(format!(
            "node {} has an alarm: it is short of memory or disk space, and publishers are held back",
            node.name
        ))
    } else {
        let lost = node.partitions.first()?;
        Some(format!("node {} has lost sight of node {lost}: mend the partition", node.name))
    }
}
