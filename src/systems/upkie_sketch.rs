//! Upkie's picture.

use std::f64::consts::PI;

use super::{
    Role, Shape,
    chain::turned,
    sketch::{disc, line},
    upkie_mechanics::{FEMUR, TIBIA, TORSO_BOX, TORSO_CENTRE, WHEEL},
};

/// Seen from its right side, rolling on the ground at height 0 towards the right. The torso is
/// a little larger when it is heavier; a mark on the wheel shows it rolling.
pub(super) fn upkie(torso_mass: f64, state: &[f64]) -> Vec<Shape> {
    let along = |from: [f64; 2], offset: [f64; 2], angle: f64| {
        let arm = turned(offset, angle);
        [from[0] + arm.x, from[1] + arm.y]
    };
    let axle = [state[0], WHEEL];
    let knee = along(axle, [0.0, TIBIA], state[2]);
    let hip = along(knee, [0.0, FEMUR], state[4]);
    let scale = (0.9 + 0.05 * torso_mass.sqrt()).min(1.2);
    let [height, depth] = TORSO_BOX.map(|half| scale * half);
    let in_torso =
        |[x, z]: [f64; 2]| along(hip, [TORSO_CENTRE[0] + x, TORSO_CENTRE[1] + z], state[6]);
    let cut = 0.3 * depth;
    let corners = [
        [-depth + cut, -height],
        [depth - cut, -height],
        [depth, -height + cut],
        [depth, height - cut],
        [depth - cut, height],
        [-depth + cut, height],
        [-depth, height - cut],
        [-depth, -height + cut],
    ];
    let handle = [
        [-0.04, height],
        [-0.04, height + 0.035],
        [0.04, height + 0.035],
        [0.04, height],
    ];
    let mark = state[0] / WHEEL;
    let marks = [0.0, PI].map(|half| along(axle, [0.0, 0.75 * WHEEL], mark + half));
    vec![
        line(&[[-2.0, 0.0], [2.0, 0.0]], 0.006, Role::Ground),
        line(&handle.map(in_torso), 0.012, Role::Limb),
        Shape::Polygon {
            points: corners.map(in_torso).to_vec(),
            role: Role::Body,
        },
        disc(in_torso([0.6 * depth, 0.45 * height]), 0.012, Role::Ground),
        disc(axle, WHEEL, Role::Joint),
        line(&marks, 0.008, Role::Ground),
        line(&[axle, knee], 0.022, Role::Limb),
        line(&[knee, hip], 0.022, Role::Limb),
        disc(axle, 0.014, Role::Ground),
        disc(knee, 0.03, Role::Joint),
        disc(hip, 0.03, Role::Joint),
    ]
}
