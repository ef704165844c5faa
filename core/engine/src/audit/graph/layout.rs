//! Where nodes stand: in layers from left to right, as few crossings as a few sweeps find.

use super::{EdgeKind, Graph};
use std::collections::{BTreeMap, BTreeSet};

/// Width of a character of a label, in pixels.
const CHARACTER: usize = 7;
pub(super) const HEIGHT: usize = 34;
const GAP_BETWEEN: usize = 16;
const GAP_OF_LAYERS: usize = 150;
const MARGIN: usize = 24;
/// The longest label that is drawn, in characters.
pub(super) const LONGEST: usize = 36;
const SWEEPS: usize = 6;

/// A node's box; the place of its upper left corner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Place {
    pub(super) x: usize,
    pub(super) y: usize,
    pub(super) width: usize,
}

/// Every box, and how large the whole picture is.
pub(super) struct Layout {
    pub(super) places: Vec<Place>,
    pub(super) width: usize,
    pub(super) height: usize,
}

pub(super) fn layout(graph: &Graph) -> Layout {
    let layers = layers(graph);
    let mut rows: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (node, layer) in layers.iter().enumerate() {
        rows.entry(*layer).or_default().push(node);
    }
    let rows = ordered(graph, rows.into_values().collect());
    let mut places = vec![Place::default(); graph.nodes.len()];
    let (mut x, mut height) = (MARGIN, 0);
    for row in &rows {
        let width = |node: &usize| {
            let label = graph.nodes.get(*node).map_or(0, |node| node.label().chars().count().min(LONGEST));
            label.max(8) * CHARACTER + 20
        };
        let widest = row.iter().map(width).max().unwrap_or(0);
        let mut y = MARGIN;
        for node in row {
            if let Some(place) = places.get_mut(*node) {
                *place = Place { x, y, width: width(node) };
            }
            y += HEIGHT + GAP_BETWEEN;
        }
        height = height.max(y);
        x += widest + GAP_OF_LAYERS;
    }
    // Short columns stand in the middle.
    for row in &rows {
        let used = MARGIN + row.len() * (HEIGHT + GAP_BETWEEN);
        let down = height.saturating_sub(used) / 2;
        for node in row {
            if let Some(place) = places.get_mut(*node) {
                place.y += down;
            }
        }
    }
    Layout { places, width: x.saturating_sub(GAP_OF_LAYERS) + MARGIN, height: height + MARGIN }
}

/// The layer of each node: one behind the last that leads to it, edges that close a circle left out.
fn layers(graph: &Graph) -> Vec<usize> {
    let mut next: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for edge in graph.edges.iter().filter(|edge| edge.kind != EdgeKind::Retry && edge.from != edge.to) {
        next.entry(edge.from).or_default().push(edge.to);
    }
    let mut state: Vec<u8> = vec![0; graph.nodes.len()];
    let mut order = Vec::new();
    let mut back: BTreeSet<(usize, usize)> = BTreeSet::new();
    let incoming: BTreeSet<usize> = next.values().flatten().copied().collect();
    let roots = (0..graph.nodes.len()).filter(|node| !incoming.contains(node)).chain(0..graph.nodes.len());
    for root in roots {
        let mut calls = vec![(root, 0_usize)];
        while let Some((node, child)) = calls.pop() {
            let Some(mark) = state.get_mut(node) else { continue };
            if child == 0 {
                if *mark != 0 {
                    continue;
                }
                *mark = 1;
            }
            match next.get(&node).and_then(|next| next.get(child)) {
                Some(to) => {
                    calls.push((node, child + 1));
                    match state.get(*to) {
                        Some(0) => calls.push((*to, 0)),
                        Some(1) => {
                            back.insert((node, *to));
                        }
                        _ => {}
                    }
                }
                None => {
                    *mark = 2;
                    order.push(node);
                }
            }
        }
    }
    let mut layers = vec![0_usize; graph.nodes.len()];
    for node in order.into_iter().rev() {
        let here = layers.get(node).copied().unwrap_or(0);
        for to in next.get(&node).into_iter().flatten().filter(|to| !back.contains(&(node, **to))) {
            if let Some(layer) = layers.get_mut(*to) {
                *layer = (*layer).max(here + 1);
            }
        }
    }
    layers
}

/// Sorts each layer by the middle of its neighbours, forth and back.
fn ordered(graph: &Graph, mut rows: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    let mut neighbours: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for edge in &graph.edges {
        neighbours.entry(edge.from).or_default().push(edge.to);
        neighbours.entry(edge.to).or_default().push(edge.from);
    }
    for sweep in 0..SWEEPS {
        // Thousandths of the layer's length, so that long and short layers compare.
        let mut position: BTreeMap<usize, usize> = BTreeMap::new();
        for row in &rows {
            for (index, node) in row.iter().enumerate() {
                position.insert(*node, index * 1_000 / row.len().max(1));
            }
        }
        let count = rows.len();
        for index in 0..count {
            let at = if sweep % 2 == 0 { index } else { count - 1 - index };
            let Some(row) = rows.get_mut(at) else { continue };
            let middle = |node: &usize| {
                let around = neighbours.get(node).map_or(&[][..], Vec::as_slice);
                let places: Vec<usize> = around.iter().filter_map(|other| position.get(other).copied()).collect();
                match places.len() {
                    0 => position.get(node).copied().unwrap_or(0),
                    len => places.iter().sum::<usize>() / len,
                }
            };
            let mut keyed: Vec<(usize, usize)> = row.iter().map(|node| (middle(node), *node)).collect();
            keyed.sort_unstable();
            *row = keyed.into_iter().map(|(_, node)| node).collect();
            let length = row.len().max(1);
            for (index, node) in row.iter().enumerate() {
                position.insert(*node, index * 1_000 / length);
            }
        }
    }
    rows
}
