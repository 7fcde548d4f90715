//! What each system is, in a sentence or two.

/// What is to be seen and tried.
pub fn about(name: &str) -> &'static str {
    match name {
        "pendulum" => {
            "A rod with a mass at its end, turned by a torque at the pivot. The torque is linear in inertia and mass, \
             so that everything about it can be checked by hand."
        }
        "cartpole" => {
            "A pole swings on a cart that is pushed along a rail and held back by friction. The same forces that swing \
             up one cartpole fail with another mass: a controller has to know what it pushes."
        }
        "arm" => {
            "Two links with a single motor, in the elbow. The ghost swings up; make the second link heavier and the \
             same torques miss."
        }
        "upkie" => {
            "A wheeled biped, balanced by model predictive control at 200 Hz while it rolls half a metre to and fro. \
             Change the mass of its torso while it rolls: the controller is never told."
        }
        "capacitor" | "capacitor-eps" => {
            "Two plates at ±2 V in a box. The upper one is tilted and shifted, and the potential between them follows \
             in a way that no formula tells: Laplace’s equation is solved anew for every position of the sliders."
        }
        _ => {
            "The potential of point charges, measured inside the marked rectangle. It is linear in the charges φ, \
             whatever their places. Drag a charge anywhere outside the rectangle, and add or remove some: there can \
             be one to eight."
        }
    }
}
