use super::*;
use crate::systems::{
    Field, System as _,
    capacitor::Capacitor,
    charges::{Charges, Site},
};

fn lines_of(field: &dyn Field, parameters: &[f64], window: Window) -> Vec<Vec<[f64; 2]>> {
    let potential = field.solve(parameters).unwrap();
    field_lines(potential.as_ref(), &field.sketch(parameters), window, 40)
}

#[test]
fn the_lines_of_a_single_charge_are_rays() {
    let site = Site::plus([0.0, -0.5]);
    let single = Charges::new(&[site], [[-1.0, 0.0], [1.0, 1.0]]).unwrap();
    let lines = lines_of(&single, &[1.0], [[-1.0, -0.65], [1.0, 1.0]]);
    assert!(lines.len() >= 35, "{} lines", lines.len());
    for line in lines {
        let angle = |x: &[f64; 2]| (x[1] + 0.5).atan2(x[0]);
        let bend = angle(&line[line.len() - 1]) - angle(&line[0]);
        assert!(bend.abs() < 1e-6, "a ray turns by {bend} rad");
    }
}

#[test]
fn lines_run_downhill_and_stay_in_the_window() {
    let quadrupole = Charges::quadrupole();
    let charges = [1.0, -1.0, 1.0, -1.0];
    let window = [[-1.15, -1.15], [1.15, 1.15]];
    let potential = quadrupole.potential(&charges).unwrap();
    for line in lines_of(&quadrupole, &charges, window) {
        assert!(
            line.iter()
                .all(|x| (0..2).all(|a| x[a] >= window[0][a] && x[a] <= window[1][a]))
        );
        for pair in line.windows(2) {
            assert!(
                potential.value(pair[1]) < potential.value(pair[0]),
                "uphill at {pair:?}"
            );
        }
    }
}

#[test]
fn lines_between_the_plates_reach_from_plate_to_plate() {
    let capacitor = Capacitor::full();
    let potential = capacitor.solve_grid(&[0.0, 0.0]).unwrap();
    let lines = lines_of(&capacitor, &[0.0, 0.0], capacitor.domain());
    let in_the_gap =
        |line: &&Vec<[f64; 2]>| line.iter().all(|x| x[0].abs() < 1.5 && x[1].abs() < 0.7);
    let inner: Vec<_> = lines.iter().filter(in_the_gap).collect();
    assert!(inner.len() >= 10, "{} lines", inner.len());
    for line in inner {
        let (first, last) = (
            potential.value(line[0]),
            potential.value(line[line.len() - 1]),
        );
        assert!(first > 1.7 && last < -1.99, "from {first} V to {last} V");
    }
}

#[test]
fn a_far_charge_shows_although_it_is_outside_the_window() {
    let dipole = Charges::dipole();
    let charges = [5.0, 0.0, 0.0];
    let window = [[-1.0, -0.25], [1.0, 1.0]];
    let far = dipole.sites()[0].position;
    assert!(far[0] < window[0][0], "the far charge is at {far:?}");
    let lines = lines_of(&dipole, &charges, window);
    assert!(lines.len() >= 5, "{} lines", lines.len());
}

#[test]
fn without_a_field_there_is_no_line() {
    let pair = Charges::pair();
    assert!(pair.check(&[0.0, 0.0]).is_ok());
    assert!(lines_of(&pair, &[0.0, 0.0], pair.domain()).is_empty());
}
