//! Learning from the example file.

use camel_lab::experiments::{
    dataset::{example, report::DataSpec, roles::Roles, table::Table, tasks::Order},
    spec::Draft,
};

/// The example file.
pub fn example() -> Vec<u8> {
    example::csv().unwrap().into_bytes()
}

/// What to learn from a file with the guessed roles: the last environment is held out.
pub fn spec(file: &[u8], method: &str, steps: usize) -> DataSpec {
    let outline = Table::read(file).unwrap().outline();
    let columns = Roles::guess(&outline).check(&outline).unwrap();
    let environments = outline
        .columns
        .iter()
        .find(|c| c.name == columns.environment);
    let held_out = environments
        .unwrap()
        .groups
        .as_ref()
        .unwrap()
        .last()
        .unwrap()
        .0
        .clone();
    let draft = Draft {
        rank: 2,
        steps,
        shots: 50,
        ..Draft::recommended("cartpole", method).unwrap()
    };
    DataSpec {
        file: example::NAME.to_owned(),
        columns,
        held_out,
        order: Order::Random,
        shared_part: false,
        training: draft.check().unwrap(),
    }
}
