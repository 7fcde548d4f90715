//! What each column stands for, which environment is held out and how its shots are taken.

use leptos::prelude::*;

use crate::{
    charts::number::short,
    experiments::dataset::{roles::Role, table::ColumnOutline},
    ui::{
        components::{Notice, Segmented, SelectField, Tone},
        data_session::DataSession,
    },
};

/// Values of a column that are listed.
const LISTED: usize = 4;

/// The choices that a file leaves open.
#[component]
pub fn ColumnRoles() -> impl IntoView {
    let data = expect_context::<DataSession>();
    let rows = move || {
        let outline = data.outline.get().unwrap_or_default();
        let row = |(k, column): (usize, ColumnOutline)| column_row(data, k, &column);
        outline
            .columns
            .into_iter()
            .enumerate()
            .map(row)
            .collect_view()
    };
    let problem = Signal::derive(move || data.columns().err().unwrap_or_default());
    view! {
        <section class="card stack" id="columns" aria-label="Columns">
            <h2>"Columns"</h2>
            <div class="table-scroll" role="region" aria-label="Columns of the file" tabindex="0">
                <table class="table">
                    <thead>
                        <tr><th scope="col">"Column"</th><th scope="col">"Stands for"</th><th scope="col">"Values"</th></tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
            <Show when=move || problem.with(|p| !p.is_empty())>
                <Notice tone=Tone::Error title=problem />
            </Show>
            <HeldOut />
        </section>
    }
    .into_any()
}

fn column_row(data: DataSession, index: usize, column: &ColumnOutline) -> AnyView {
    let role = move || data.roles.with(|roles| roles.0.get(index).copied());
    let options = Role::ALL.map(|choice| {
        let chosen = move || role() == Some(choice);
        view! { <option value=choice.name() selected=chosen>{choice.name()}</option> }
    });
    let choose = move |event| {
        let name = event_target_value(&event);
        if let Some(role) = Role::ALL.into_iter().find(|role| role.name() == name) {
            data.set_role(index, role);
        }
    };
    let label = format!("Role of {}", column.name);
    view! {
        <tr>
            <th scope="row">{column.name.clone()}</th>
            <td><span class="field__control"><select class="select" aria-label=label on:change=choose
                prop:value=move || role().map_or("", Role::name)>{options.to_vec()}</select></span></td>
            <td>{values(column)}</td>
        </tr>
    }
    .into_any()
}

fn values(column: &ColumnOutline) -> String {
    if let (None, Some((low, high))) = (&column.not_a_number, column.range) {
        return if low == high {
            short(low)
        } else {
            format!("{} to {}", short(low), short(high))
        };
    }
    let Some(groups) = &column.groups else {
        return "text".to_owned();
    };
    let mut names: Vec<&str> = groups
        .iter()
        .take(LISTED)
        .map(|(name, _)| name.as_str())
        .collect();
    if groups.len() > LISTED {
        names.push("…");
    }
    format!("{} ({})", names.join(", "), groups.len())
}

/// Which environment is held out, and which of its rows are the shots.
#[component]
fn HeldOut() -> impl IntoView {
    let data = expect_context::<DataSession>();
    let environments = Memo::new(move |_| data.environments());
    let field = move || {
        let option =
            |(name, rows): (String, usize)| (name.clone(), format!("{name} ({rows} rows)"));
        let options = environments.get().into_iter().map(option).collect();
        view! {
            <SelectField id="held-out" label="Held-out environment" options=options wide=true
                hint="Training does not see it; the model adapts to its shots and is tested on its other rows."
                value=data.held_out on_change=move |name: String| data.held_out.set(name) />
        }
    };
    let order = [("random", "random rows"), ("first", "the first rows")]
        .map(|(name, text)| (name.to_owned(), text.to_owned()));
    let chosen = move || {
        if data.recording.get() {
            "first"
        } else {
            "random"
        }
        .to_owned()
    };
    view! {
        <div class="form">
            {field}
        </div>
        <div class="row">
            <span class="small" id="order-label">"Shots are"</span>
            <Segmented label="Shots are" options=order.to_vec() value=Signal::derive(chosen)
                on_change=move |name: String| data.recording.set(name == "first") />
        </div>
        <label class="check">
            <input type="checkbox" id="shared-part" prop:checked=data.shared_part
                on:change=move |event| data.shared_part.set(event_target_checked(&event)) />
            "A part c(x) that all environments share (CAMEL and R2-D2)"
        </label>
    }
    .into_any()
}
