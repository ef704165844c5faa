//! Throw-away RabbitMQ nodes of several generations.
//!
//! A [`Node`] listens on free loopback ports, has a node name, an Erlang cookie, a port mapper (epmd) and a data folder of its
//! own, and never touches a broker that already runs on the machine. It goes when it is dropped, and also when the test
//! process ends in any other way.
//!
//! Starting takes some seconds, so tests share one node of each generation per test binary and keep apart by vhost:
//!
//! ```no_run
//! acemq_tests::on_every_broker! {
//!     fn a_queue_is_there_after_it_is_declared(node) {
//!         let vhost = node.fresh_vhost();
//!         let connection = vhost.connect();
//!         connection.channel().unwrap().declare_queue(&acemq_core::rabbitmq::QueueDeclaration::durable("q")).unwrap();
//!     }
//! }
//! ```

mod generation;
mod node;
mod process;
mod vhost;

pub use generation::Generation;
pub use node::{Cluster, Node, Settings};
pub use process::free_port;
pub use vhost::Vhost;

use std::sync::OnceLock;

/// The node of `generation` that all tests of this binary share, started at first use. `None`, with a word on standard
/// error, when this machine cannot have that generation.
///
/// # Panics
/// When the node cannot be started, or when it is named in `ACEMQ_TEST_BROKERS` and cannot be had.
pub fn shared(generation: Generation) -> Option<&'static Node> {
    static NODES: [OnceLock<Result<Node, String>>; Generation::COUNT] = [const { OnceLock::new() }; Generation::COUNT];
    if !generation.is_wanted() {
        return None;
    }
    let node = NODES[generation.index()].get_or_init(|| Node::start(generation));
    match node {
        Ok(node) => Some(node),
        Err(why) => panic!("RabbitMQ {generation} could not be started: {why}"),
    }
}

/// Writes one test for each generation: `NAME::distribution`, `NAME::rabbitmq_4_0`, `NAME::rabbitmq_4_3`. The body gets the
/// shared [`Node`] and is not run where the machine cannot have that generation.
#[macro_export]
macro_rules! on_every_broker {
    ($($(#[$attribute:meta])* fn $name:ident($node:ident) $body:block)+) => { $(
        mod $name {
            #[allow(unused_imports)]
            use super::*;
            use $crate::broker::{Generation, Node, shared};

            fn check($node: &Node) $body

            #[test]
            $(#[$attribute])*
            fn distribution() {
                if let Some(node) = shared(Generation::Distribution) {
                    check(node);
                }
            }

            #[test]
            $(#[$attribute])*
            fn rabbitmq_4_0() {
                if let Some(node) = shared(Generation::V4_0) {
                    check(node);
                }
            }

            #[test]
            $(#[$attribute])*
            fn rabbitmq_4_3() {
                if let Some(node) = shared(Generation::V4_3) {
                    check(node);
                }
            }
        }
    )+ };
}
