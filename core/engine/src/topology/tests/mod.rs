//! Tests of the whole module; what they expect is written down from the contract, not taken from the code.

mod document;
mod problems;
mod rules;

use super::*;

fn codes(topology: &Topology) -> Vec<&'static str> {
    topology.problems().iter().map(|problem| problem.code.as_str()).collect()
}
