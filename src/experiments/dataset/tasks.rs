//! The rows of a file as tasks, one an environment.

use std::{borrow::Cow, sync::Arc};

use rand::seq::index;
use serde::{Deserialize, Serialize};

use super::{
    DatasetError,
    roles::Columns,
    table::{Column, Table},
};
use crate::{
    random::generator,
    systems::{Samples, Task},
};

/// Most numbers that training holds.
const MOST_NUMBERS: usize = 8_000_000;
/// Fewest rows of an environment of which some are set aside to judge the model.
const ENOUGH_TO_SET_ASIDE: usize = 50;
/// One row of so many is set aside.
const SET_ASIDE: usize = 7;
/// Stream of the choice of shots.
const SHOT_STREAM: u64 = 72;

/// Which rows of the new environment are its shots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Random rows: the order of the file has no meaning.
    #[default]
    Random,
    /// The first rows: the file is a recording.
    First,
}

impl Order {
    /// Name in lists.
    pub fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::First => "first",
        }
    }
}

/// The environments of a file, in the order in which they first appear.
#[derive(Clone, Debug)]
pub struct Environments {
    /// Their names.
    pub names: Vec<String>,
    /// Their samples.
    pub tasks: Vec<Task>,
}

impl Environments {
    /// Cuts a file into environments. Known parameters must not change within one.
    pub fn new(table: &Table, columns: &Columns) -> Result<Self, DatasetError> {
        let numbers = |names: &[String]| -> Result<Vec<&Column>, DatasetError> {
            let column = |name: &String| {
                let column = table.column(name)?;
                column.numbers().map(|_| column)
            };
            names.iter().map(column).collect()
        };
        let inputs = numbers(&columns.inputs)?;
        let parameters = numbers(&columns.parameters)?;
        let target = numbers(std::slice::from_ref(&columns.target))?[0];
        let groups = table.column(&columns.environment)?.groups.as_ref();
        let groups = groups.ok_or_else(|| {
            DatasetError::Choice(format!(
                "column '{}' has too many different values to name the environment",
                columns.environment
            ))
        })?;
        if inputs.is_empty() {
            return Err(DatasetError::Choice("there is no input".to_owned()));
        }
        let mut rows: Vec<Vec<usize>> = groups
            .names
            .iter()
            .map(|&(_, count)| Vec::with_capacity(count))
            .collect();
        for (row, &group) in groups.of_row.iter().enumerate() {
            rows[group as usize].push(row);
        }
        let task = |(rows, (name, _)): (&Vec<usize>, &(String, usize))| {
            let mut values = Vec::with_capacity(rows.len() * inputs.len());
            for &row in rows {
                values.extend(inputs.iter().map(|column| column.numbers[row]));
            }
            let dim = inputs.len();
            Ok(Task {
                parameters: constants(&parameters, rows, name)?,
                inputs: Arc::new(Samples { dim, values }),
                targets: rows.iter().map(|&row| target.numbers[row]).collect(),
            })
        };
        let tasks: Result<_, DatasetError> = rows.iter().zip(&groups.names).map(task).collect();
        let tasks = tasks?;
        let names = groups.names.iter().map(|(name, _)| name.clone()).collect();
        Ok(Self { names, tasks })
    }

    /// Takes one environment out and splits the others into what is trained on and what judges it.
    pub fn hold_out(mut self, name: &str, order: Order) -> Result<Held, DatasetError> {
        let position = self.names.iter().position(|other| other == name);
        let position = position
            .ok_or_else(|| DatasetError::Choice(format!("there is no environment '{name}'")))?;
        let held = self.tasks.remove(position);
        self.names.remove(position);
        if self.tasks.len() < 2 {
            return Err(DatasetError::Choice(format!(
                "there must be at least 3 environments, two to train on and one held out, but there are {}",
                self.tasks.len() + 1
            )));
        }
        for (task, name) in self.tasks.iter().zip(&self.names) {
            if task.targets.len() < 2 {
                return Err(DatasetError::Choice(format!(
                    "environment '{name}' must have at least 2 rows, but has {}",
                    task.targets.len()
                )));
            }
        }
        let (training, validation) = self.tasks.iter().map(|task| set_aside(task, order)).unzip();
        let (training, note) = same_length(training);
        Ok(Held {
            training,
            validation,
            held,
            note,
        })
    }
}

/// Tasks to train on, to judge by and to adapt to.
#[derive(Clone, Debug)]
pub struct Held {
    /// What is trained on: as many rows in each.
    pub training: Vec<Task>,
    /// Rows of the same environments that are not trained on, where there are enough.
    pub validation: Vec<Task>,
    /// The environment that training does not see.
    pub held: Task,
    /// What was left out or repeated.
    pub note: Option<String>,
}

/// The shots of a task and the rows that are left to test on.
pub fn shots(
    task: &Task,
    count: usize,
    order: Order,
    seed: u64,
) -> Result<(Task, Task), DatasetError> {
    let rows = task.targets.len();
    if count >= rows {
        return Err(DatasetError::Choice(format!(
            "the held-out environment has {rows} rows, so there can be at most {} shots, but {count} are asked for",
            rows.saturating_sub(1)
        )));
    }
    let chosen = match order {
        Order::First => (0..count).collect(),
        Order::Random => index::sample(&mut generator(seed, SHOT_STREAM), rows, count).into_vec(),
    };
    let mut used = vec![false; rows];
    for &row in &chosen {
        used[row] = true;
    }
    let rest: Vec<usize> = (0..rows).filter(|&row| !used[row]).collect();
    Ok((part(task, &chosen), part(task, &rest)))
}

fn constants(columns: &[&Column], rows: &[usize], name: &str) -> Result<Vec<f64>, DatasetError> {
    let constant = |column: &&Column| {
        let first = rows.first().map_or(f64::NAN, |&row| column.numbers[row]);
        match rows.iter().find(|&&row| column.numbers[row] != first) {
            None => Ok(first),
            Some(row) => Err(DatasetError::Cell {
                row: row + 2,
                column: column.name.clone(),
                problem: format!(
                    "a known parameter must not change within an environment, but is {first} and then {} in '{name}'",
                    column.numbers[*row]
                ),
            }),
        }
    };
    columns.iter().map(constant).collect()
}

/// The last rows of a recording, every seventh row of a set without order; all rows of a small one.
fn set_aside(task: &Task, order: Order) -> (Task, Task) {
    let rows = task.targets.len();
    if rows < ENOUGH_TO_SET_ASIDE {
        return (task.clone(), task.clone());
    }
    let aside = |row: &usize| match order {
        Order::First => *row >= rows - rows / SET_ASIDE,
        Order::Random => row % SET_ASIDE == SET_ASIDE - 1,
    };
    let (validation, training): (Vec<usize>, Vec<usize>) = (0..rows).partition(aside);
    (part(task, &training), part(task, &validation))
}

/// Makes all tasks as long as the longest, by repeating rows, or as memory allows, by leaving some out.
fn same_length(tasks: Vec<Task>) -> (Vec<Task>, Option<String>) {
    let lengths = || tasks.iter().map(|task| task.targets.len());
    let longest = lengths().max().unwrap_or(0);
    let width = tasks.first().map_or(1, |task| task.inputs.dim + 1);
    let room = (MOST_NUMBERS / (width * tasks.len().max(1))).max(2);
    let length = longest.min(room);
    if lengths().all(|own| own == length) {
        return (tasks, None);
    }
    let note = if longest > room {
        Cow::Owned(format!(
            "at most {room} rows of an environment fit into memory; they are taken evenly, and shorter environments repeat theirs"
        ))
    } else {
        Cow::Borrowed(
            "environments have different numbers of rows; the shorter ones repeat theirs, so that each counts the same",
        )
    };
    let resample = |task: Task| {
        let own = task.targets.len();
        let row = |k: usize| {
            if own > length {
                k * own / length
            } else {
                k % own
            }
        };
        part(&task, &(0..length).map(row).collect::<Vec<_>>())
    };
    let tasks = tasks.into_iter().map(resample).collect();
    (tasks, Some(note.into_owned()))
}

fn part(task: &Task, rows: &[usize]) -> Task {
    let values = rows.iter().flat_map(|&row| task.inputs.row(row)).copied();
    Task {
        parameters: task.parameters.clone(),
        inputs: Arc::new(Samples {
            dim: task.inputs.dim,
            values: values.collect(),
        }),
        targets: rows.iter().map(|&row| task.targets[row]).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::roles::Roles, *};

    fn environments(text: &str) -> Result<Environments, DatasetError> {
        let table = Table::read(text.as_bytes()).unwrap();
        let outline = table.outline();
        Environments::new(&table, &Roles::guess(&outline).check(&outline)?)
    }

    fn rows(name: &str, count: usize) -> String {
        (0..count).map(|k| format!("{name},{k},{k}\n")).collect()
    }

    #[test]
    fn rows_of_an_environment_come_together() {
        let text = "env,param:m,x,y\nb,2,1,10\na,1,2,20\nb,2,3,30\n";
        let Environments { names, tasks } = environments(text).unwrap();
        assert_eq!(names, ["b", "a"]);
        assert_eq!(tasks[0].inputs.values, [1.0, 3.0]);
        assert_eq!(tasks[0].targets, [10.0, 30.0]);
        assert_eq!(tasks[0].parameters, [2.0]);
    }

    #[test]
    fn a_parameter_that_changes_is_named() {
        let text = "env,param:m,x,y\na,1,2,20\nb,2,3,30\na,1.5,2,20\n";
        let said = environments(text).unwrap_err().to_string();
        assert!(
            said.starts_with("row 4, column 'param:m'") && said.contains("1 and then 1.5 in 'a'"),
            "{said}"
        );
    }

    #[test]
    fn shorter_environments_repeat_their_rows() {
        let text = format!("env,x,y\n{}{}{}", rows("a", 5), rows("b", 3), rows("c", 9));
        let held = environments(&text)
            .unwrap()
            .hold_out("c", Order::Random)
            .unwrap();
        assert_eq!(held.training[1].targets, [0.0, 1.0, 2.0, 0.0, 1.0]);
        assert_eq!(held.held.targets.len(), 9);
        assert!(held.note.unwrap().contains("different numbers of rows"));
    }

    #[test]
    fn rows_are_set_aside_at_the_end_of_a_recording_or_here_and_there() {
        let text = format!(
            "env,x,y\n{}{}{}",
            rows("a", 70),
            rows("b", 70),
            rows("c", 70)
        );
        let split = |order| environments(&text).unwrap().hold_out("b", order).unwrap();
        assert_eq!(split(Order::First).validation[0].targets[0], 60.0);
        assert_eq!(split(Order::Random).validation[0].targets[..2], [6.0, 13.0]);
        assert_eq!(split(Order::Random).training[1].targets.len(), 60);
    }

    #[test]
    fn shots_and_the_rest_share_no_row() {
        let environments = environments(&format!("env,x,y\n{}", rows("a", 20))).unwrap();
        for order in [Order::First, Order::Random] {
            let (shots, rest) = shots(&environments.tasks[0], 8, order, 3).unwrap();
            let mut all = [shots.targets, rest.targets].concat();
            all.sort_by(f64::total_cmp);
            assert_eq!(all, (0..20).map(f64::from).collect::<Vec<_>>());
        }
        let said = shots(&environments.tasks[0], 20, Order::First, 0)
            .unwrap_err()
            .to_string();
        assert!(said.contains("at most 19 shots, but 20"), "{said}");
    }

    #[test]
    fn too_few_environments_or_an_unknown_one_are_refused() {
        let text = format!("env,x,y\n{}{}", rows("a", 5), rows("b", 3));
        let refuse = |name| {
            let environments = environments(&text).unwrap();
            environments
                .hold_out(name, Order::First)
                .unwrap_err()
                .to_string()
        };
        assert!(refuse("a").contains("at least 3 environments"));
        assert!(refuse("z").contains("no environment 'z'"));
    }
}
