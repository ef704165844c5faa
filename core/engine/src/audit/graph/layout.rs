//! Where nodes stand and edges run: columns from left to right, as few crossings as a few sweeps find, edges that pass a
//! column between its nodes.

use super::layers::{Item, Layers, layers};
use super::{Graph, cells, shorten};
use std::collections::BTreeMap;

/// Width of a character of a label, in pixels, and of one of a key.
const CHARACTER: i64 = 7;
pub(super) const KEY_CHARACTER: i64 = 6;
pub(super) const HEIGHT: i64 = 34;
/// What an edge takes of a column that it passes.
const PASSING: i64 = 8;
const GAP_BETWEEN: i64 = 14;
const GAP_OF_COLUMNS: i64 = 80;
/// The most that keys widen the gap before a column.
const WIDEST_KEYS: i64 = 220;
pub(super) const MARGIN: i64 = 28;
/// The longest label and key that are drawn, in cells.
pub(super) const LONGEST: i64 = 40;
pub(super) const LONGEST_KEY: i64 = 36;
const SWEEPS: usize = 12;

/// A node's box; the place of its upper left corner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Place {
    pub(super) x: i64,
    pub(super) y: i64,
    pub(super) width: i64,
}

/// A point.
pub(super) type Point = (i64, i64);

/// Every box and every way, and how large the whole picture is.
pub(super) struct Layout {
    pub(super) places: Vec<Place>,
    /// By edge: points from its start to its end, two for each gap between columns.
    pub(super) ways: Vec<Vec<Point>>,
    pub(super) width: i64,
    pub(super) height: i64,
}

pub(super) fn layout(graph: &Graph) -> Layout {
    let mut layers = layers(graph);
    let links = Links::new(&layers);
    order(&mut layers, &links);
    let centre = centres(&layers, &links);
    let mut places = vec![Place::default(); graph.nodes.len()];
    let width_of = |node: usize| {
        let node = graph.nodes.get(node);
        let label = node.map_or(0, |node| cells(&shorten(&node.label(), LONGEST)).max(cells(node.kind_name()) * 6 / 7));
        label.max(8) * CHARACTER + 20
    };
    // Columns, as wide as their widest box, with room for the keys before them.
    let (mut x, mut spans) = (MARGIN, Vec::new());
    let gaps = gaps(graph, &layers);
    for (number, column) in layers.columns.iter().enumerate() {
        let widest = column.iter().map(|item| if let Item::Node(node) = item { width_of(*node) } else { 0 }).max();
        let widest = widest.unwrap_or(0);
        if number > 0 {
            x += gaps.get(number).copied().unwrap_or(GAP_OF_COLUMNS);
        }
        spans.push((x, x + widest));
        for item in column {
            if let Item::Node(node) = item
                && let Some(place) = places.get_mut(*node)
            {
                let y = centre.get(item).copied().unwrap_or(0) - HEIGHT / 2;
                *place = Place { x, y, width: width_of(*node) };
            }
        }
        x += widest;
    }
    let top = centre.values().min().copied().unwrap_or(0) - HEIGHT / 2;
    let down = MARGIN - top;
    for column in &layers.columns {
        for item in column {
            if let Item::Node(node) = item
                && let Some(place) = places.get_mut(*node)
            {
                place.y += down;
            }
        }
    }
    let mut width = x;
    let mut height = centre.values().max().map_or(MARGIN, |lowest| lowest + down + HEIGHT / 2);
    place_alone(&layers.alone, &width_of, &mut places, (&mut width, &mut height));
    let ways = ways(graph, &layers, &places, &spans, |item| centre.get(&item).copied().unwrap_or(0) + down);
    Layout { places, ways, width: width + MARGIN, height: height + MARGIN }
}

/// Nodes without edges, in rows below the picture.
fn place_alone(
    alone: &[usize],
    width_of: &impl Fn(usize) -> i64,
    places: &mut [Place],
    (width, height): (&mut i64, &mut i64),
) {
    let widest = alone.iter().map(|node| width_of(*node)).max().unwrap_or(0);
    let room = (*width).max(1_000);
    let (mut x, mut y) = (MARGIN, *height + GAP_BETWEEN);
    for node in alone {
        if x > MARGIN && x + widest > room {
            (x, y) = (MARGIN, y + HEIGHT + GAP_BETWEEN);
        }
        if let Some(place) = places.get_mut(*node) {
            *place = Place { x, y, width: width_of(*node) };
        }
        *width = (*width).max(x + widest);
        *height = y + HEIGHT;
        x += widest + GAP_BETWEEN;
    }
}

/// The gap before each column: the more edges cross it and the longer their keys, the wider.
fn gaps(graph: &Graph, layers: &Layers) -> Vec<i64> {
    let mut column_of: BTreeMap<Item, usize> = BTreeMap::new();
    for (number, column) in layers.columns.iter().enumerate() {
        column_of.extend(column.iter().map(|item| (*item, number)));
    }
    let mut gaps = vec![GAP_OF_COLUMNS; layers.columns.len()];
    let mut crossing = vec![0_i64; layers.columns.len()];
    for (way, edge) in layers.ways.iter().zip(&graph.edges) {
        let keys = cells(&shorten(&edge.label, LONGEST_KEY)) * KEY_CHARACTER;
        for item in way.iter().skip(1) {
            let Some(column) = column_of.get(item) else { continue };
            if let (Some(gap), Some(crossing)) = (gaps.get_mut(*column), crossing.get_mut(*column)) {
                *gap = (*gap).max(GAP_OF_COLUMNS + keys.min(WIDEST_KEYS));
                *crossing += 1;
            }
        }
    }
    gaps.iter().zip(crossing).map(|(gap, crossing)| gap + (crossing / 3).min(160)).collect()
}

/// What each item is connected with in the column before and behind.
struct Links {
    before: BTreeMap<Item, Vec<Item>>,
    behind: BTreeMap<Item, Vec<Item>>,
}

impl Links {
    fn new(layers: &Layers) -> Self {
        let (mut before, mut behind): (BTreeMap<Item, Vec<Item>>, BTreeMap<Item, Vec<Item>>) = Default::default();
        for way in &layers.ways {
            for (left, right) in way.iter().zip(way.iter().skip(1)) {
                behind.entry(*left).or_default().push(*right);
                before.entry(*right).or_default().push(*left);
            }
        }
        Self { before, behind }
    }
}

/// Sorts each column by the middle of its neighbours in the last one, forth and back.
fn order(layers: &mut Layers, links: &Links) {
    let mut position: BTreeMap<Item, i64> = BTreeMap::new();
    for column in &layers.columns {
        position.extend(column.iter().zip(0..).map(|(item, index)| (*item, index * 1_000)));
    }
    let count = layers.columns.len();
    for sweep in 0..SWEEPS {
        let forth = sweep % 2 == 0;
        for index in 0..count {
            let at = if forth { index } else { count - 1 - index };
            let Some(column) = layers.columns.get_mut(at) else { continue };
            let middle = |item: &Item| {
                let around = if forth { links.before.get(item) } else { links.behind.get(item) };
                let around = around.map_or(&[][..], Vec::as_slice);
                let sum: i64 = around.iter().filter_map(|other| position.get(other)).sum();
                match i64::try_from(around.len()) {
                    Ok(len) if len > 0 => sum / len,
                    _ => position.get(item).copied().unwrap_or(0),
                }
            };
            let mut keyed: Vec<(i64, usize, Item)> =
                column.iter().enumerate().map(|(index, item)| (middle(item), index, *item)).collect();
            keyed.sort_unstable();
            *column = keyed.into_iter().map(|(_, _, item)| item).collect();
            position.extend(column.iter().zip(0..).map(|(item, index)| (*item, index * 1_000)));
        }
    }
}

/// The middle line of each item: as near to its neighbours' as the others of its column let it.
fn centres(layers: &Layers, links: &Links) -> BTreeMap<Item, i64> {
    let mut centre: BTreeMap<Item, i64> = BTreeMap::new();
    for column in &layers.columns {
        let wanted = column.iter().map(|_| 0);
        centre.extend(column.iter().copied().zip(apart(column, wanted.collect())));
    }
    for sweep in 0..SWEEPS {
        let last = sweep + 2 >= SWEEPS;
        let columns: Vec<&Vec<Item>> =
            if sweep % 2 == 0 { layers.columns.iter().collect() } else { layers.columns.iter().rev().collect() };
        for column in columns {
            let wanted = column.iter().map(|item| {
                let here = centre.get(item).copied().unwrap_or(0);
                let (before, behind) = (links.before.get(item), links.behind.get(item));
                let (one, other) = if sweep % 2 == 0 { (before, behind) } else { (behind, before) };
                let around = one.into_iter().flatten().chain(other.filter(|_| last).into_iter().flatten());
                let around: Vec<i64> = around.filter_map(|other| centre.get(other).copied()).collect();
                match i64::try_from(around.len()) {
                    Ok(len) if len > 0 => around.iter().sum::<i64>() / len,
                    _ => here,
                }
            });
            let wanted: Vec<i64> = wanted.collect();
            centre.extend(column.iter().copied().zip(apart(column, wanted)));
        }
    }
    centre
}

const fn half(item: Item) -> i64 {
    match item {
        Item::Node(_) => HEIGHT / 2,
        Item::Passing(..) => PASSING / 2,
    }
}

/// The places nearest to the wanted ones (by the sum of squares) at which nothing overlaps and the order stays: neighbours
/// that want the same room form a block, which stands at the mean of what its members want.
fn apart(column: &[Item], wanted: Vec<i64>) -> Vec<i64> {
    let (mut offset, mut before) = (0, None);
    let mut offsets = Vec::with_capacity(column.len());
    for item in column {
        if let Some(before) = before {
            offset += half(before) + half(*item) + GAP_BETWEEN;
        }
        before = Some(*item);
        offsets.push(offset);
    }
    // Blocks of (sum, count).
    let mut blocks: Vec<(i64, i64)> = Vec::new();
    for (wanted, offset) in wanted.iter().zip(&offsets) {
        let mut block = (wanted - offset, 1);
        while let Some(last) = blocks.last().copied().filter(|last| last.0 * block.1 >= block.0 * last.1) {
            blocks.pop();
            block = (block.0 + last.0, block.1 + last.1);
        }
        blocks.push(block);
    }
    let starts = blocks
        .iter()
        .flat_map(|(sum, count)| std::iter::repeat_n(sum.div_euclid(*count), usize::try_from(*count).unwrap_or(0)));
    starts.zip(&offsets).map(|(start, offset)| start + offset).collect()
}

/// The points of each edge. Edges that end at one box are spread over its side, in the order in which they come.
fn ways(
    graph: &Graph,
    layers: &Layers,
    places: &[Place],
    spans: &[(i64, i64)],
    centre: impl Fn(Item) -> i64,
) -> Vec<Vec<Point>> {
    // By node and side: the heights that the edges there come from.
    let mut sides: BTreeMap<(usize, bool), Vec<(i64, usize)>> = BTreeMap::new();
    for (edge, way) in layers.ways.iter().enumerate() {
        if let [Item::Node(left), second, ..] = way.as_slice() {
            sides.entry((*left, true)).or_default().push((centre(*second), edge));
        }
        if let [.., second, Item::Node(right)] = way.as_slice() {
            sides.entry((*right, false)).or_default().push((centre(*second), edge));
        }
    }
    let mut ports: BTreeMap<(usize, bool), i64> = BTreeMap::new();
    for ((node, is_right), mut edges) in sides {
        edges.sort_unstable();
        let middle = places.get(node).map_or(0, |place| place.y + HEIGHT / 2);
        let count = i64::try_from(edges.len()).unwrap_or(1);
        let step = (10 * 2).min((HEIGHT - 10) * 2 / count.max(1));
        for ((_, edge), index) in edges.into_iter().zip(0..) {
            ports.insert((edge, is_right), middle + (2 * index - count + 1) * step / 4);
        }
    }
    let mut out = Vec::with_capacity(layers.ways.len());
    for (number, way) in layers.ways.iter().enumerate() {
        let mut points: Vec<Point> = Vec::with_capacity(way.len() * 2);
        for item in way {
            match *item {
                Item::Passing(_, column) => {
                    let (left, right) = spans.get(column).copied().unwrap_or_default();
                    points.extend([(left, centre(*item)), (right, centre(*item))]);
                }
                Item::Node(node) => {
                    let Some(place) = places.get(node) else { continue };
                    let is_left_end = points.is_empty();
                    let middle = place.y + HEIGHT / 2;
                    let y = ports.get(&(number, is_left_end)).copied().unwrap_or(middle);
                    points.push((if is_left_end { place.x + place.width } else { place.x }, y));
                    // From the box to the end of its column.
                    let end = spans.iter().find(|(left, _)| *left == place.x).map_or(place.x, |(_, right)| *right);
                    if is_left_end && way.len() > 1 && end > place.x + place.width {
                        points.push((end, y));
                    }
                }
            }
        }
        if layers.backwards.contains(&number) {
            points.reverse();
        }
        let is_loop = graph.edges.get(number).is_some_and(|edge| edge.from == edge.to);
        out.push(if is_loop { points.into_iter().take(1).collect() } else { points });
    }
    out
}
