//! The colour of a shape from its role and from whose it is.

use crate::{
    charts::{Colour, Hue, Theme},
    systems::Role,
};

/// The colour of a shape of `role` for an actor in the colour of `hue` (its own colours if none).
pub fn shape_colour(role: Role, hue: Option<Hue>, theme: &Theme) -> Colour {
    let own = match role {
        Role::Ground => return theme.axis,
        Role::Positive => theme.hue(Hue::Camel),
        Role::Negative => theme.hue(Hue::Anil),
        Role::Body => theme.ink.mix(theme.paper, 0.25),
        Role::Limb => theme.ink.mix(theme.paper, 0.45),
        Role::Joint => theme.ink,
    };
    match (hue, role) {
        (Some(hue), Role::Body) => theme.hue(hue),
        (Some(hue), Role::Limb) => theme.hue(hue).mix(theme.ink, 0.18),
        (Some(hue), Role::Joint) => theme.hue(hue).mix(theme.ink, 0.38),
        _ => own,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charts::colour::difference;

    #[test]
    fn parts_of_a_robot_are_told_apart_and_lie_off_the_background() {
        for theme in [Theme::light(), Theme::dark()] {
            for hue in [None, Some(Hue::Camel), Some(Hue::Anil), Some(Hue::Analytic)] {
                let roles = [Role::Body, Role::Limb, Role::Joint];
                let colours = roles.map(|role| shape_colour(role, hue, &theme));
                assert!(difference(colours[0], colours[1]) > 0.02);
                assert!(difference(colours[1], colours[2]) > 0.02);
                for colour in colours {
                    assert!(difference(colour, theme.paper) > 0.15, "{hue:?} {colour:?}");
                }
            }
        }
    }

    #[test]
    fn the_ground_is_the_same_for_all() {
        let theme = Theme::light();
        let own = shape_colour(Role::Ground, None, &theme);
        assert_eq!(shape_colour(Role::Ground, Some(Hue::Maml), &theme), own);
    }
}
