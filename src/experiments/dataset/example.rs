//! A file to try: recordings of cartpoles of different masses, made by our own simulator.

use crate::systems::{Quantity, Split, System, SystemError, by_name};

/// Environments of the example besides the system's training environments.
const NEW: usize = 2;
/// Rows of each environment.
const ROWS: usize = 300;

/// Name of the example file.
pub const NAME: &str = "cartpole-example.csv";

/// The example as CSV.
pub fn csv() -> Result<String, SystemError> {
    let system = by_name("cartpole")?;
    let mut environments = system.environments(Split::Train, 0);
    environments.extend(system.environments(Split::Test, 0).into_iter().take(NEW));
    let mut text = header(&*system) + "\n";
    for (number, parameters) in environments.iter().enumerate() {
        let task = system.task(parameters, Split::Train, number as u64)?;
        let stride = (task.targets.len() / ROWS).max(1);
        let rows = task.inputs.rows().zip(&task.targets);
        for (row, target) in rows.step_by(stride).take(ROWS) {
            text += &format!("cart {}", number + 1);
            for value in parameters.iter().chain(row).chain([target]) {
                text += &format!(",{}", (value * 1e6).round() / 1e6);
            }
            text.push('\n');
        }
    }
    Ok(text)
}

fn header(system: &dyn System) -> String {
    let about = system.description();
    let mut names = vec!["environment".to_owned()];
    names.extend(
        about
            .parameters
            .iter()
            .map(|p| format!("param:{}", heading(p.quantity))),
    );
    names.extend(
        about
            .inputs
            .iter()
            .chain([&about.target])
            .map(|&q| heading(q)),
    );
    names.join(",")
}

fn heading(quantity: Quantity) -> String {
    match quantity.unit {
        "1" => quantity.symbol.to_owned(),
        unit => format!("{} [{unit}]", quantity.symbol),
    }
}

/// Name and unit of a heading such as `mass [kg]`.
pub fn name_and_unit(heading: &str) -> (&str, &str) {
    let split = heading
        .strip_suffix(']')
        .and_then(|rest| rest.rsplit_once('['));
    split.map_or((heading, ""), |(name, unit)| (name.trim(), unit.trim()))
}

#[cfg(test)]
mod tests {
    use super::{
        super::{roles::Roles, table::Table, tasks::Environments},
        *,
    };

    #[test]
    fn the_example_is_read_without_a_choice() {
        let text = csv().unwrap();
        let table = Table::read(text.as_bytes()).unwrap();
        let outline = table.outline();
        let columns = Roles::guess(&outline).check(&outline).unwrap();
        assert_eq!(columns.environment, "environment");
        assert_eq!(columns.parameters, ["param:M [kg]", "param:m [kg]"]);
        assert_eq!(columns.inputs.len(), 6);
        assert_eq!(columns.target, "u [N]");
        let environments = Environments::new(&table, &columns).unwrap();
        assert_eq!(environments.names.len(), 6);
        assert!(
            environments
                .tasks
                .iter()
                .all(|task| task.targets.len() == ROWS)
        );
    }

    #[test]
    fn units_are_in_brackets() {
        assert_eq!(name_and_unit("mass [kg]"), ("mass", "kg"));
        assert_eq!(name_and_unit("mass"), ("mass", ""));
        assert_eq!(name_and_unit("]["), ("][", ""));
        assert_eq!(name_and_unit("]"), ("]", ""));
    }
}
