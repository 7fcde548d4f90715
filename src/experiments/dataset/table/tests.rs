use super::{
    super::{
        roles::Roles,
        tasks::{Environments, Order, shots},
    },
    *,
};
use crate::random::generator;
use rand::{Rng as _, RngExt as _};

const SMALL: &str = "env,x,y\na,1,2\nb,-3.5,4e1\na,0,6\n";
/// Enough environments to hold one out.
const THREE: &str = "env,x,y\na,1,2\na,2,3\nb,3,4\nb,4,5\nc,5,6\nc,6,7\n";

fn complaint(text: &str) -> String {
    let table = Table::read(text.as_bytes());
    let cell = |table: Table| {
        let bad: Vec<_> = table.columns[1..]
            .iter()
            .filter_map(|column| column.numbers().err())
            .collect();
        bad.first().map(ToString::to_string)
    };
    match table {
        Ok(table) => cell(table).unwrap_or_default(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_small_file_is_read() {
    let table = Table::read(SMALL.as_bytes()).unwrap();
    assert_eq!(table.rows(), 3);
    assert_eq!(
        table.column("x").unwrap().numbers().unwrap(),
        [1.0, -3.5, 0.0]
    );
    let outline = table.outline();
    let groups = vec![("a".to_owned(), 2), ("b".to_owned(), 1)];
    assert_eq!(outline.columns[0].groups, Some(groups));
    assert_eq!(outline.columns[2].range, Some((2.0, 40.0)));
    assert_eq!(outline.preview[1], ["b", "-3.5", "4e1"]);
}

#[test]
fn separators_byte_order_marks_quotes_and_windows_lines_are_understood() {
    for text in [
        "env;x;y\na;1;2\n",
        "env\tx\ty\na\t1\t2",
        "\u{feff}env,x,y\r\n\"a\",\" 1 \",2\r\n",
    ] {
        let table = Table::read(text.as_bytes()).unwrap();
        assert_eq!(table.columns[0].name, "env", "{text}");
        assert_eq!(table.column("x").unwrap().numbers().unwrap(), [1.0]);
    }
}

#[test]
fn complaints_name_row_and_column() {
    for (text, said) in [
        ("", "the file is empty; its first row must name the columns"),
        ("env,x,y\n", "the file has a header but no rows below it"),
        (
            "1,2,3\n4,5,6\n",
            "row 1: it must name the columns, but it holds numbers",
        ),
        ("env,x,x\n", "row 1: columns 2 and 3 are both called 'x'"),
        ("env,,y\n", "row 1: column 2 has no name"),
        ("env,y\na,1\n", "row 1: there must be at least 3 columns"),
        (
            "env,x,y\na,1,2\na,1\n",
            "row 3: it has 2 cells, but the header names 3 columns",
        ),
        (
            "env,x,y\na,1,2\na,one,2\n",
            "row 3, column 'x': 'one' is not a number between",
        ),
        ("env,x,y\na,1,\n", "row 2, column 'y': the cell is empty"),
        (
            "env,x,y\na,1,-2e50\n",
            "row 2, column 'y': '-2e50' is not a number between -1e50 and 1e50",
        ),
        (
            "env,x,y\na,1,inf\n",
            "row 2, column 'y': 'inf' is not a number between",
        ),
    ] {
        let given = complaint(text);
        assert!(given.contains(said), "{text:?} gave {given:?}");
    }
}

#[test]
fn a_column_of_many_values_cannot_name_the_environment() {
    let rows: String = (0..=MOST_GROUPS).map(|k| format!("a,{k},0\n")).collect();
    let table = Table::read(format!("env,x,y\n{rows}").as_bytes()).unwrap();
    assert_eq!(table.outline().columns[1].groups, None);
    assert_eq!(
        table.outline().columns[2].groups.as_ref().map(Vec::len),
        Some(1)
    );
}

/// What the page waits for: the engine reads in slices of rows and lets others in between.
#[test]
fn a_hundred_thousand_rows_are_read_in_slices() {
    let row = "7,0.1,-2.25,3e-3,4,5.5,6,7,8,9,10,-11.125\n";
    let names: Vec<_> = (1..12).map(|k| format!("x{k}")).collect();
    let text = format!("env,{}\n{}", names.join(","), row.repeat(100_000));
    let mut reader = TableReader::new(text.as_bytes()).unwrap();
    let mut slices = 1;
    while reader.read(5_000).unwrap() {
        slices += 1;
    }
    assert_eq!((slices, reader.rows()), (21, 100_000));
    assert_eq!(reader.finish().unwrap().columns.len(), 12);
}

/// Holds out each environment in turn; counts how often that can be done.
fn held_out(environments: &Environments) -> usize {
    let hold = |name: &String| {
        let held = environments.clone().hold_out(name, Order::Random).ok()?;
        let rows = held.training[0].targets.len();
        assert!(held.training.iter().all(|task| task.targets.len() == rows));
        // An environment without a row to spare is refused with a reason.
        let _ = shots(&held.held, 1, Order::First, 0);
        Some(())
    };
    environments.names.iter().filter_map(hold).count()
}

#[test]
fn a_hundred_thousand_random_and_mutated_files_never_panic() {
    let mut rng = generator(6, 0);
    let alphabet = b"0123456789eE.,;\t\"'\n\r -+naif\xef\xbb\xbf\xff\0";
    let mut held = 0;
    for round in 0..100_000 {
        let mut bytes = match round % 3 {
            0 => SMALL.as_bytes().to_vec(),
            1 => THREE.as_bytes().to_vec(),
            _ => {
                let length = rng.random_range(0..80);
                (0..length)
                    .map(|_| alphabet[rng.random_range(0..alphabet.len())])
                    .collect()
            }
        };
        for _ in 0..rng.random_range(1..8) {
            if bytes.is_empty() {
                break;
            }
            let place = rng.random_range(0..bytes.len());
            match rng.random_range(0..3) {
                0 => bytes[place] = (rng.next_u32() & 0xff) as u8,
                1 => bytes[place] = alphabet[rng.random_range(0..alphabet.len())],
                _ => bytes.truncate(place),
            }
        }
        if let Ok(table) = Table::read(&bytes) {
            assert!(
                table
                    .columns
                    .iter()
                    .all(|column| column.numbers.len() == table.rows())
            );
            let outline = table.outline();
            if let Ok(roles) = Roles::guess(&outline).check(&outline) {
                // Whatever passes the checks can be cut into tasks or is refused with a reason.
                held += Environments::new(&table, &roles).map_or(0, |all| held_out(&all));
            }
        }
    }
    // Some get as far as that, or it would be tried on nothing.
    assert!(held > 100, "{held}");
}
