//! Where the keys of edges are written: beside their line, over no box and no other key.

use super::layout::{HEIGHT, KEY_CHARACTER, LONGEST_KEY, Layout, Point};
use super::{Graph, cells, shorten};
use std::collections::BTreeMap;

/// Height of a key, in pixels.
const KEY_HEIGHT: i64 = 11;
/// Side of the squares by which neighbours are found.
const CELL: i64 = 64;
/// How far along a gap between columns a key may stand, in hundredths: from the middle outwards, or from one end.
const FROM_MIDDLE: [i64; 9] = [50, 40, 60, 30, 70, 20, 80, 12, 88];
const FROM_START: [i64; 9] = [10, 16, 22, 30, 40, 50, 62, 76, 90];

/// The place of the key of each edge; none where there is no room for it.
pub(super) fn key_places(graph: &Graph, layout: &Layout) -> Vec<Option<Point>> {
    let mut taken = Taken::default();
    for place in &layout.places {
        // With room for arrow heads before it.
        taken.take(Area { left: place.x - 10, right: place.x + place.width, top: place.y, bottom: place.y + HEIGHT });
    }
    let (mut leaving, mut arriving) = (BTreeMap::<usize, usize>::new(), BTreeMap::<usize, usize>::new());
    for edge in &graph.edges {
        *leaving.entry(edge.from).or_default() += 1;
        *arriving.entry(edge.to).or_default() += 1;
    }
    let ends = graph.edges.iter().zip(&layout.ways);
    ends.map(|(edge, way)| {
        if edge.label.is_empty() {
            return None;
        }
        let width = cells(&shorten(&edge.label, LONGEST_KEY)) * KEY_CHARACTER;
        // Where many leave and one arrives there is room at the arrival, and the other way round.
        let (from, to) = (leaving.get(&edge.from), arriving.get(&edge.to));
        let mut gaps: Vec<(Point, Point)> = way.iter().copied().zip(way.iter().skip(1).copied()).collect();
        gaps.retain(|(one, other)| one.0.abs_diff(other.0) >= 40);
        if from > to {
            gaps.reverse();
        }
        let along = if from == to { FROM_MIDDLE } else { FROM_START };
        let places = gaps.into_iter().flat_map(|(one, other)| {
            along.map(|along| on_curve(one, other, if from > to { 100 - along } else { along }))
        });
        places.map(|(x, y)| (x, y - 3)).find(|(x, y)| {
            let area = Area { left: x - width / 2, right: x + width / 2, top: y - KEY_HEIGHT + 2, bottom: y + 2 };
            let fits = area.left >= 0 && taken.is_free(area);
            if fits {
                taken.take(area);
            }
            fits
        })
    })
    .collect()
}

/// A point of the curve between two points whose tangents are level, as `svg` draws it.
fn on_curve(one: Point, other: Point, hundredths: i64) -> Point {
    let (t, u) = (hundredths, 100 - hundredths);
    let middle = (one.0 + other.0) / 2;
    let x = u * u * u * one.0 + 3 * u * u * t * middle + 3 * u * t * t * middle + t * t * t * other.0;
    let y = (u * u * u + 3 * u * u * t) * one.1 + (3 * u * t * t + t * t * t) * other.1;
    (x / 1_000_000, y / 1_000_000)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Area {
    pub(super) left: i64,
    pub(super) right: i64,
    pub(super) top: i64,
    pub(super) bottom: i64,
}

impl Area {
    pub(super) const fn overlaps(&self, other: &Self) -> bool {
        self.left < other.right && other.left < self.right && self.top < other.bottom && other.top < self.bottom
    }

    fn squares(self) -> impl Iterator<Item = (i64, i64)> {
        let columns = self.left.div_euclid(CELL)..=self.right.div_euclid(CELL);
        columns.flat_map(move |x| (self.top.div_euclid(CELL)..=self.bottom.div_euclid(CELL)).map(move |y| (x, y)))
    }
}

#[derive(Default)]
struct Taken(BTreeMap<(i64, i64), Vec<Area>>);

impl Taken {
    fn take(&mut self, area: Area) {
        for square in area.squares() {
            self.0.entry(square).or_default().push(area);
        }
    }

    fn is_free(&self, area: Area) -> bool {
        area.squares()
            .all(|square| self.0.get(&square).is_none_or(|there| !there.iter().any(|one| one.overlaps(&area))))
    }
}
