//! What a canvas shows: robots, their ghosts, and the trail of a tip.

use std::collections::VecDeque;

use crate::{charts::Hue, systems::Shape};

/// One robot or one set of sources.
#[derive(Clone, Debug, PartialEq)]
pub struct Actor {
    /// Its shapes in metres.
    pub shapes: Vec<Shape>,
    /// Whose it is: a method's colour, or the shapes' own colours.
    pub hue: Option<Hue>,
    /// From 0 (unseen) to 1 (solid).
    pub opacity: f64,
}

impl Actor {
    /// Solid, in the colour of a method.
    pub fn solid(shapes: Vec<Shape>, hue: Hue) -> Self {
        Self {
            shapes,
            hue: Some(hue),
            opacity: 1.0,
        }
    }

    /// Solid, in the colours of the shapes' roles.
    pub fn plain(shapes: Vec<Shape>) -> Self {
        Self {
            shapes,
            hue: None,
            opacity: 1.0,
        }
    }

    /// Translucent: a target or a competitor behind the main actor.
    pub fn ghost(shapes: Vec<Shape>, hue: Hue) -> Self {
        Self {
            shapes,
            hue: Some(hue),
            opacity: 0.3,
        }
    }
}

/// The last places of a tip, fading with age.
#[derive(Clone, Debug, PartialEq)]
pub struct Trail {
    points: VecDeque<[f64; 2]>,
    capacity: usize,
    /// Whose trail it is.
    pub hue: Hue,
}

impl Trail {
    /// An empty trail of up to `capacity` places.
    pub fn new(capacity: usize, hue: Hue) -> Self {
        Self {
            points: VecDeque::with_capacity(capacity),
            capacity,
            hue,
        }
    }

    /// Adds a place and forgets the oldest when full. A place that is not finite cuts the trail.
    pub fn push(&mut self, point: [f64; 2]) {
        if !point.iter().all(|c| c.is_finite()) {
            self.points.clear();
            return;
        }
        if self.points.len() >= self.capacity {
            self.points.pop_front();
        }
        if self.capacity > 0 {
            self.points.push_back(point);
        }
    }

    /// Forgets all places.
    pub fn clear(&mut self) {
        self.points.clear();
    }

    /// Pairs of neighbouring places with an opacity from 0 (oldest) to 1 (newest).
    pub fn segments(&self) -> impl Iterator<Item = ([f64; 2], [f64; 2], f64)> {
        let last = self.points.len().saturating_sub(1).max(1) as f64;
        let next = self.points.iter().skip(1);
        self.points
            .iter()
            .zip(next)
            .enumerate()
            .map(move |(k, (from, to))| {
                let age = (k + 1) as f64 / last;
                (*from, *to, age * age)
            })
    }
}

/// Everything on one canvas.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scene {
    /// Lower left and upper right corner of what must be seen [m].
    pub world: [[f64; 2]; 2],
    /// Horizontal place to keep in the middle [m]; none to stand still.
    pub follow: Option<f64>,
    /// Height of the ground line [m]; none for no ground.
    pub ground: Option<f64>,
    /// Actors, the first one at the back.
    pub actors: Vec<Actor>,
    /// Trails, behind the actors.
    pub trails: Vec<Trail>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trail_keeps_its_newest_places_and_fades_the_old_ones() {
        let mut trail = Trail::new(3, Hue::Camel);
        for k in 0..5 {
            trail.push([k as f64, 0.0]);
        }
        let segments: Vec<_> = trail.segments().collect();
        assert_eq!(segments.len(), 2);
        assert_eq!(segments[0].0, [2.0, 0.0]);
        assert_eq!(segments[1].2, 1.0);
        assert!(segments[0].2 < segments[1].2);
    }

    #[test]
    fn a_jump_to_nowhere_cuts_the_trail() {
        let mut trail = Trail::new(10, Hue::Camel);
        trail.push([0.0, 0.0]);
        trail.push([f64::NAN, 0.0]);
        trail.push([1.0, 1.0]);
        assert_eq!(trail.segments().count(), 0);
    }

    #[test]
    fn a_trail_without_room_stays_empty() {
        let mut trail = Trail::new(0, Hue::Camel);
        trail.push([0.0, 0.0]);
        trail.push([1.0, 0.0]);
        assert_eq!(trail.segments().count(), 0);
    }
}
