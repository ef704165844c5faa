//! Which column each node stands in, and the way of each edge through the columns between its ends.
//!
//! Messages flow from left to right. An edge that closes a circle is drawn backwards: as if it led the other way, with its
//! arrow at the other end. Of two edges that could be the one, it is the retry.

use super::{EdgeKind, Graph};
use std::collections::{BTreeMap, BTreeSet};

/// Something that takes a place in a column: a node, or an edge that passes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Item {
    Node(usize),
    /// An edge in that column.
    Passing(usize, usize),
}

/// Columns from left to right, and the items that each edge connects, from left to right too.
pub(super) struct Layers {
    pub(super) columns: Vec<Vec<Item>>,
    /// By edge; of one whose ends are the same node only that node.
    pub(super) ways: Vec<Vec<Item>>,
    /// Edges whose arrow points to the left.
    pub(super) backwards: BTreeSet<usize>,
    /// Nodes without any edge.
    pub(super) alone: Vec<usize>,
}

pub(super) fn layers(graph: &Graph) -> Layers {
    let mut connected = BTreeSet::new();
    for edge in &graph.edges {
        connected.insert(edge.from);
        connected.insert(edge.to);
    }
    let (order, backwards) = visited(graph);
    let column = columns_of(graph, &order, &backwards);
    let mut columns: Vec<Vec<Item>> = Vec::new();
    let mut put = |at: usize, item: Item| {
        while columns.len() <= at {
            columns.push(Vec::new());
        }
        if let Some(column) = columns.get_mut(at) {
            column.push(item);
        }
    };
    let at = |node: usize| column.get(node).copied().unwrap_or(0);
    for node in order.iter().copied().filter(|node| connected.contains(node)) {
        put(at(node), Item::Node(node));
    }
    let mut ways = Vec::with_capacity(graph.edges.len());
    for (number, edge) in graph.edges.iter().enumerate() {
        let (left, right) = if backwards.contains(&number) { (edge.to, edge.from) } else { (edge.from, edge.to) };
        let mut way = vec![Item::Node(left)];
        for between in at(left) + 1..at(right) {
            let item = Item::Passing(number, between);
            put(between, item);
            way.push(item);
        }
        if left != right {
            way.push(Item::Node(right));
        }
        ways.push(way);
    }
    let alone = (0..graph.nodes.len()).filter(|node| !connected.contains(node)).collect();
    Layers { columns, ways, backwards, alone }
}

/// The nodes in the order in which messages come to them first, and the edges that close a circle.
fn visited(graph: &Graph) -> (Vec<usize>, BTreeSet<usize>) {
    let mut next: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
    let (mut entered, mut entered_at_once) = (BTreeSet::new(), BTreeSet::new());
    for by_retry in [false, true] {
        for (number, edge) in graph.edges.iter().enumerate() {
            if (edge.kind == EdgeKind::Retry) == by_retry && edge.from != edge.to {
                next.entry(edge.from).or_default().push((number, edge.to));
                entered.insert(edge.to);
                if !by_retry {
                    entered_at_once.insert(edge.to);
                }
            }
        }
    }
    let all = || 0..graph.nodes.len();
    let first = all().filter(|node| !entered.contains(node));
    let second = all().filter(|node| !entered_at_once.contains(node));
    let mut state: Vec<u8> = vec![0; graph.nodes.len()];
    let (mut order, mut backwards) = (Vec::new(), BTreeSet::new());
    for root in first.chain(second).chain(all()) {
        let mut calls = vec![(root, 0_usize)];
        while let Some((node, child)) = calls.pop() {
            let Some(mark) = state.get_mut(node) else { continue };
            if child == 0 {
                if *mark != 0 {
                    continue;
                }
                *mark = 1;
                order.push(node);
            }
            match next.get(&node).and_then(|next| next.get(child)) {
                Some((number, to)) => {
                    calls.push((node, child + 1));
                    match state.get(*to) {
                        Some(0) => calls.push((*to, 0)),
                        Some(1) => {
                            backwards.insert(*number);
                        }
                        _ => {}
                    }
                }
                None => *mark = 2,
            }
        }
    }
    (order, backwards)
}

/// One column behind the last that leads to it; what nothing leads to stands directly before what it leads to.
fn columns_of(graph: &Graph, order: &[usize], backwards: &BTreeSet<usize>) -> Vec<usize> {
    let mut next: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut open = vec![0_usize; graph.nodes.len()];
    for (number, edge) in graph.edges.iter().enumerate().filter(|(_, edge)| edge.from != edge.to) {
        let (left, right) = if backwards.contains(&number) { (edge.to, edge.from) } else { (edge.from, edge.to) };
        next.entry(left).or_default().push(right);
        if let Some(open) = open.get_mut(right) {
            *open += 1;
        }
    }
    let mut column = vec![0_usize; graph.nodes.len()];
    let is_open = |open: &[usize], node: usize| open.get(node).is_some_and(|count| *count > 0);
    let sources: Vec<usize> = order.iter().copied().filter(|node| !is_open(&open, *node)).collect();
    let mut ready: Vec<usize> = sources.iter().rev().copied().collect();
    while let Some(node) = ready.pop() {
        let here = column.get(node).copied().unwrap_or(0);
        for to in next.get(&node).into_iter().flatten() {
            if let Some(column) = column.get_mut(*to) {
                *column = (*column).max(here + 1);
            }
            if let Some(count) = open.get_mut(*to) {
                *count -= 1;
                if *count == 0 {
                    ready.push(*to);
                }
            }
        }
    }
    let targets = |node: usize| next.get(&node).map_or(&[][..], Vec::as_slice);
    for node in &sources {
        let nearest = targets(*node).iter().filter_map(|to| column.get(*to).copied()).min();
        if let (Some(nearest), Some(column)) = (nearest, column.get_mut(*node)) {
            *column = nearest.saturating_sub(1);
        }
    }
    column
}
