//! What each column of a file stands for.

use serde::{Deserialize, Serialize};

use super::{
    DatasetError,
    table::{ColumnOutline, Outline},
};

/// Headings that name the environment.
const ENVIRONMENT_NAMES: [&str; 3] = ["environment", "env", "task"];
/// Headings that name the target; without one it is the last column.
const TARGET_NAMES: [&str; 2] = ["target", "y"];
/// What the heading of a known parameter begins with.
pub const PARAMETER_PREFIX: &str = "param:";

/// What a column stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Names the environment of the row.
    Environment,
    /// An input x.
    Input,
    /// The target y.
    Target,
    /// A physical parameter of the environment that is known.
    Parameter,
    /// Nothing.
    Ignored,
}

impl Role {
    /// All roles, in the order of the list on the page.
    pub const ALL: [Self; 5] = [
        Self::Environment,
        Self::Input,
        Self::Target,
        Self::Parameter,
        Self::Ignored,
    ];

    /// Name for people and in lists.
    pub fn name(self) -> &'static str {
        match self {
            Self::Environment => "environment",
            Self::Input => "input",
            Self::Target => "target",
            Self::Parameter => "known parameter",
            Self::Ignored => "ignored",
        }
    }
}

impl Role {
    /// One letter, for links.
    fn letter(self) -> char {
        match self {
            Self::Environment => 'e',
            Self::Input => 'i',
            Self::Target => 't',
            Self::Parameter => 'p',
            Self::Ignored => 'x',
        }
    }
}

/// A role for each column of a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Roles(pub Vec<Role>);

/// The columns of each role, checked. Only [`Roles::check`] makes one for a page; the engine checks
/// again against the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Columns {
    /// Names the environment.
    pub environment: String,
    /// The inputs x.
    pub inputs: Vec<String>,
    /// The target y.
    pub target: String,
    /// Known parameters.
    pub parameters: Vec<String>,
}

impl Roles {
    /// All roles in one word, for links.
    pub fn write(&self) -> String {
        self.0.iter().map(|role| role.letter()).collect()
    }

    /// Reads what [`Self::write`] has written for a file of so many columns.
    pub fn read(word: &str, columns: usize) -> Option<Self> {
        let role = |letter| Role::ALL.into_iter().find(|role| role.letter() == letter);
        let roles = word.chars().map(role).collect::<Option<Vec<_>>>()?;
        (roles.len() == columns).then_some(Self(roles))
    }

    /// The likely roles, from the headings.
    pub fn guess(outline: &Outline) -> Self {
        let columns = &outline.columns;
        let is = |column: &ColumnOutline, names: &[&str]| {
            names.contains(&column.name.to_ascii_lowercase().as_str())
        };
        let mut roles: Vec<Role> = columns
            .iter()
            .map(|column| {
                if column
                    .name
                    .to_ascii_lowercase()
                    .starts_with(PARAMETER_PREFIX)
                {
                    Role::Parameter
                } else if column.not_a_number.is_some() {
                    Role::Ignored
                } else {
                    Role::Input
                }
            })
            .collect();
        let environment = columns
            .iter()
            .position(|column| is(column, &ENVIRONMENT_NAMES))
            .or_else(|| {
                columns
                    .iter()
                    .position(|column| column.looks_like_groups(outline.rows))
            });
        if let Some(environment) = environment {
            roles[environment] = Role::Environment;
        }
        let free = |k: &usize| roles[*k] == Role::Input;
        let target = (0..columns.len())
            .filter(free)
            .find(|&k| is(&columns[k], &TARGET_NAMES))
            .or_else(|| (0..columns.len()).rev().find(free));
        if let Some(target) = target {
            roles[target] = Role::Target;
        }
        Self(roles)
    }

    /// Gives a column a role. There is one environment and one target, so that whichever column had
    /// that role becomes an input.
    pub fn set(&mut self, column: usize, role: Role) {
        if matches!(role, Role::Environment | Role::Target) {
            for other in &mut self.0 {
                if *other == role {
                    *other = Role::Input;
                }
            }
        }
        if let Some(slot) = self.0.get_mut(column) {
            *slot = role;
        }
    }

    /// The columns of each role, if they make sense for this file.
    pub fn check(&self, outline: &Outline) -> Result<Columns, DatasetError> {
        let choice = |text: &str| DatasetError::Choice(text.to_owned());
        let named = |role: Role| -> Vec<&ColumnOutline> {
            let pairs = outline.columns.iter().zip(&self.0);
            pairs
                .filter(|(_, given)| **given == role)
                .map(|(column, _)| column)
                .collect()
        };
        let [environment] = named(Role::Environment)[..] else {
            return Err(choice("choose the column that names the environment"));
        };
        let [target] = named(Role::Target)[..] else {
            return Err(choice("choose the column that is the target"));
        };
        let (inputs, parameters) = (named(Role::Input), named(Role::Parameter));
        if inputs.is_empty() {
            return Err(choice("choose at least one column as an input"));
        }
        if environment.groups.is_none() {
            return Err(DatasetError::Choice(format!(
                "column '{}' has too many different values to name the environment",
                environment.name
            )));
        }
        for column in inputs.iter().chain(&parameters).chain([&target]) {
            column.check_numbers()?;
        }
        let names = |columns: Vec<&ColumnOutline>| columns.iter().map(|c| c.name.clone()).collect();
        Ok(Columns {
            environment: environment.name.clone(),
            inputs: names(inputs),
            target: target.name.clone(),
            parameters: names(parameters),
        })
    }
}

impl ColumnOutline {
    /// Whether it is text that repeats.
    fn looks_like_groups(&self, rows: usize) -> bool {
        let repeats = |groups: &Vec<_>| groups.len() >= 2 && 2 * groups.len() <= rows;
        self.not_a_number.is_some() && self.groups.as_ref().is_some_and(repeats)
    }

    fn check_numbers(&self) -> Result<(), DatasetError> {
        match &self.not_a_number {
            None => Ok(()),
            Some(bad) => Err(DatasetError::Cell {
                row: bad.row,
                column: self.name.clone(),
                problem: bad.problem(),
            }),
        }
    }
}

/// The name of a known parameter, without the prefix of its heading.
pub fn parameter_name(heading: &str) -> &str {
    let prefix = heading.get(..PARAMETER_PREFIX.len()).unwrap_or_default();
    if prefix.eq_ignore_ascii_case(PARAMETER_PREFIX) {
        heading[PARAMETER_PREFIX.len()..].trim()
    } else {
        heading
    }
}

#[cfg(test)]
mod tests {
    use super::{super::table::Table, *};

    fn outline(text: &str) -> Outline {
        Table::read(text.as_bytes()).unwrap().outline()
    }

    #[test]
    fn roles_survive_a_link_and_others_are_refused() {
        let roles = Roles(Role::ALL.to_vec());
        assert_eq!(Roles::read(&roles.write(), 5), Some(roles.clone()));
        assert_eq!(Roles::read(&roles.write(), 4), None);
        assert_eq!(Roles::read("eitpü", 5), None);
    }

    #[test]
    fn roles_are_guessed_from_the_headings() {
        let outline = outline("Env,param:mass,x1,x2,note,force\na,1,2,3,hm,4\nb,2,2,3,ha,4\n");
        let columns = Roles::guess(&outline).check(&outline).unwrap();
        assert_eq!(columns.environment, "Env");
        assert_eq!(columns.parameters, ["param:mass"]);
        assert_eq!(columns.inputs, ["x1", "x2"]);
        assert_eq!(columns.target, "force");
        assert_eq!(parameter_name("param:mass"), "mass");
        assert_eq!(parameter_name("PARAM: mass"), "mass");
        assert_eq!(parameter_name("mass"), "mass");
    }

    #[test]
    fn without_a_heading_the_first_repeating_text_is_the_environment() {
        let outline = outline("y,place,x\n1,here,2\n1,here,2\n3,there,4\n3,there,4\n");
        let columns = Roles::guess(&outline).check(&outline).unwrap();
        assert_eq!(
            (columns.environment.as_str(), columns.target.as_str()),
            ("place", "y")
        );
    }

    #[test]
    fn a_role_that_there_is_once_moves() {
        let outline = outline("env,x,z,y\na,1,2,3\n");
        let mut roles = Roles::guess(&outline);
        roles.set(1, Role::Target);
        assert_eq!(
            roles.0,
            [Role::Environment, Role::Target, Role::Input, Role::Input]
        );
        roles.set(99, Role::Target);
    }

    #[test]
    fn what_is_missing_or_wrong_is_named() {
        let outline = outline("env,x,y\na,1,2\na,none,2\n");
        let mut roles = Roles::guess(&outline);
        let said = |roles: &Roles| roles.check(&outline).unwrap_err().to_string();
        assert_eq!(said(&roles), "choose at least one column as an input");
        roles.set(1, Role::Input);
        assert_eq!(
            said(&roles),
            "row 3, column 'x': 'none' is not a number between -1e50 and 1e50"
        );
        roles.set(0, Role::Ignored);
        assert_eq!(said(&roles), "choose the column that names the environment");
        roles.set(2, Role::Environment);
        assert_eq!(said(&roles), "choose the column that is the target");
    }
}
