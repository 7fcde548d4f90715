//! A table on the page, with exports.

use leptos::prelude::*;

use super::{Menu, MenuItem};
use crate::{charts::Table, ui::browser};

/// A table that scrolls on narrow screens, with export as CSV, Markdown and LaTeX.
#[component]
pub fn DataTable(
    /// The table.
    #[prop(into)]
    table: Signal<Table>,
    /// Whether to leave out the title and the exports.
    #[prop(optional)]
    plain: bool,
    /// Cells to set in bold, such as the best of each column: (row, column) from 0.
    #[prop(into, optional)]
    best: Signal<Vec<(usize, usize)>>,
) -> impl IntoView {
    let title = move || table.with(|t| t.title.clone());
    view! {
        <div class="stack stack--tight">
            {(!plain)
                .then(|| {
                    view! {
                        <div class="card__head">
                            <h3>{title}</h3>
                            <TableExport table=table />
                        </div>
                    }
                })}
            <div class="table-scroll" role="region" aria-label=title tabindex="0">
                <table class="table">
                    <thead>
                        <tr>{move || table.with(heads)}</tr>
                    </thead>
                    <tbody>{move || table.with(|t| best.with(|b| body(t, b)))}</tbody>
                </table>
            </div>
        </div>
    }
    .into_any()
}

fn class(table: &Table, column: usize) -> &'static str {
    if table.is_numeric(column) {
        "number"
    } else {
        ""
    }
}

fn heads(table: &Table) -> Vec<AnyView> {
    let head = |(column, text): (usize, &String)| {
        let class = class(table, column);
        view! {
            <th scope="col" class=class>
                {text.clone()}
            </th>
        }
        .into_any()
    };
    table.columns.iter().enumerate().map(head).collect()
}

fn body(table: &Table, best: &[(usize, usize)]) -> Vec<AnyView> {
    let classes: Vec<&str> = (0..table.columns.len()).map(|k| class(table, k)).collect();
    let cell = |row: usize, column: usize, text: &String| {
        let align = classes.get(column).copied().unwrap_or_default();
        let class = if best.contains(&(row, column)) {
            format!("{align} best")
        } else {
            align.to_owned()
        };
        let text = text.clone();
        if column == 0 {
            view! {
                <th scope="row" class=class>
                    {text}
                </th>
            }
            .into_any()
        } else {
            view! { <td class=class>{text}</td> }.into_any()
        }
    };
    let line = |(row, cells): (usize, &Vec<String>)| {
        let cells: Vec<AnyView> = cells
            .iter()
            .enumerate()
            .map(|(column, text)| cell(row, column, text))
            .collect();
        view! { <tr>{cells}</tr> }.into_any()
    };
    table.rows.iter().enumerate().map(line).collect()
}

/// The export menu of a table.
#[component]
fn TableExport(
    /// The table.
    table: Signal<Table>,
) -> impl IntoView {
    let save = move |ending: &str, kind: &str, write: fn(&Table) -> String| {
        table.with_untracked(|t| {
            browser::save_text(&browser::file_name(&t.title, ending), kind, &write(t));
        });
    };
    view! {
        <Menu label="Export" about=Signal::derive(move || table.with(|t| t.title.clone()))>
            <MenuItem label="CSV" on_choose=move |()| save("csv", "text/csv", Table::to_csv) />
            <MenuItem
                label="Markdown"
                on_choose=move |()| save("md", "text/markdown", Table::to_markdown)
            />
            <MenuItem
                label="LaTeX"
                on_choose=move |()| save("tex", "application/x-tex", Table::to_latex)
            />
        </Menu>
    }
    .into_any()
}
