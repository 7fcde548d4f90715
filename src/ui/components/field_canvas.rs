//! A field on a canvas, with points that the visitor places.

use leptos::{ev, html::Canvas, prelude::*};

use crate::{
    charts::{FieldChart, Theme},
    ui::{
        browser,
        canvas::{Camera, markers::Markers, paint},
    },
};

/// How near the pointer has to be to a point to take it [px].
const REACH: f64 = 14.0;

/// A field with measured points. With `on_points`, a click adds a point, dragging moves it, and a
/// double click removes it; by keyboard, arrows move a cross, Enter adds and Delete removes.
#[component]
pub fn FieldCanvas(
    /// The field, its lines and its sources.
    #[prop(into)]
    field: Signal<FieldChart>,
    /// The measured points.
    #[prop(into, optional)]
    points: Signal<Vec<[f64; 2]>>,
    /// Called with all points after each change; without it the points stay as they are.
    #[prop(into, optional)]
    on_points: Option<Callback<Vec<[f64; 2]>>>,
    /// Most points there can be.
    #[prop(default = 2000)]
    limit: usize,
    /// What is to be seen, in words.
    #[prop(into)]
    label: Signal<String>,
) -> impl IntoView {
    let canvas = NodeRef::<Canvas>::new();
    let dark = browser::dark_mode();
    let resizes = browser::resizes(canvas);
    let cursor = RwSignal::new(None::<[f64; 2]>);
    let camera = StoredValue::new(None::<Camera>);
    Effect::new(move |_| {
        resizes.track();
        let theme = Theme::new(dark.get());
        let Some(canvas) = canvas.get() else {
            return;
        };
        let seen = field.with(|field| {
            points.with(|points| paint::field(&canvas, field, points, cursor.get(), &theme))
        });
        camera.set_value(seen);
    });
    let editor = on_points.map(|tell| Editor {
        field,
        points,
        tell,
        limit,
        camera,
        cursor,
    });
    let ratio = move || field.with(|f| aspect(f.domain));
    let class = if editor.is_some() {
        "picture picture--editable"
    } else {
        "picture"
    };
    match editor {
        None => view! {
            <div class=class style:aspect-ratio=ratio>
                <canvas node_ref=canvas role="img" aria-label=label></canvas>
            </div>
        }
        .into_any(),
        Some(editor) => editable(editor, canvas, label, class, ratio).into_any(),
    }
}

fn aspect([low, high]: [[f64; 2]; 2]) -> String {
    let ratio = (high[0] - low[0]) / (high[1] - low[1]);
    format!(
        "{:.4}",
        if ratio.is_finite() {
            ratio.clamp(0.25, 4.0)
        } else {
            2.0
        }
    )
}

fn editable(
    editor: Editor,
    canvas: NodeRef<Canvas>,
    label: Signal<String>,
    class: &'static str,
    ratio: impl Fn() -> String + Send + Sync + 'static,
) -> impl IntoView {
    let held = StoredValue::new(None::<usize>);
    let down = move |event: ev::PointerEvent| {
        held.set_value(editor.take(&event));
        if let Some(canvas) = canvas.get_untracked() {
            // Without the capture, dragging ends at the border; nothing else is lost.
            let _ = canvas.set_pointer_capture(event.pointer_id());
        }
    };
    let drag = move |event: ev::PointerEvent| {
        if let (Some(index), Some(at)) = (held.get_value(), editor.place(&event)) {
            editor.change(|markers| markers.shift(index, at));
        }
    };
    let release = move |_: ev::PointerEvent| held.set_value(None);
    let spoken = move || {
        format!(
            "{}. Arrow keys move the cross, Enter adds a point, Delete removes one.",
            label.get()
        )
    };
    view! {
        <div class=class style:aspect-ratio=ratio>
            <canvas
                node_ref=canvas
                role="application"
                tabindex="0"
                aria-label=spoken
                on:pointerdown=down
                on:pointermove=drag
                on:pointerup=release
                on:pointercancel=release
                on:dblclick=move |event| editor.remove_under(&event)
                on:keydown=move |event| editor.key(&event)
                on:blur=move |_| editor.cursor.set(None)
            ></canvas>
        </div>
    }
}

/// What changes the points.
#[derive(Clone, Copy)]
struct Editor {
    field: Signal<FieldChart>,
    points: Signal<Vec<[f64; 2]>>,
    tell: Callback<Vec<[f64; 2]>>,
    limit: usize,
    camera: StoredValue<Option<Camera>>,
    cursor: RwSignal<Option<[f64; 2]>>,
}

impl Editor {
    fn markers(&self) -> Markers {
        Markers {
            domain: self.field.with_untracked(|f| f.domain),
            points: self.points.get_untracked(),
            limit: self.limit,
        }
    }

    fn change<R>(&self, change: impl FnOnce(&mut Markers) -> R) -> R {
        let mut markers = self.markers();
        let result = change(&mut markers);
        self.tell.run(markers.points);
        result
    }

    /// The place in the field under the pointer.
    fn place(&self, event: &ev::MouseEvent) -> Option<[f64; 2]> {
        let camera = self.camera.get_value()?;
        Some(camera.to_world([f64::from(event.offset_x()), f64::from(event.offset_y())]))
    }

    /// How far [`REACH`] is in the field.
    fn reach(&self) -> f64 {
        self.camera
            .get_value()
            .map_or(0.0, |camera| REACH / camera.scale)
    }

    /// The point under the pointer, or a new one.
    fn take(&self, event: &ev::MouseEvent) -> Option<usize> {
        let at = self.place(event)?;
        self.cursor.set(None);
        match self.markers().nearest(at, self.reach()) {
            Some(index) => Some(index),
            None => self.change(|markers| markers.add(at)),
        }
    }

    fn remove_under(&self, event: &ev::MouseEvent) {
        if let Some(at) = self.place(event) {
            self.remove_near(at, self.reach());
        }
    }

    fn remove_near(&self, at: [f64; 2], reach: f64) {
        if let Some(index) = self.markers().nearest(at, reach) {
            self.change(|markers| markers.remove(index));
        }
    }

    fn key(&self, event: &ev::KeyboardEvent) {
        let [low, high] = self.field.with_untracked(|f| f.domain);
        let middle = [(low[0] + high[0]) / 2.0, (low[1] + high[1]) / 2.0];
        let [x, y] = self.cursor.get_untracked().unwrap_or(middle);
        let step = (high[0] - low[0]) * if event.shift_key() { 0.1 } else { 0.02 };
        let moved = match event.key().as_str() {
            "ArrowLeft" => [x - step, y],
            "ArrowRight" => [x + step, y],
            "ArrowUp" => [x, y + step],
            "ArrowDown" => [x, y - step],
            "Enter" | " " => {
                self.change(|markers| markers.add([x, y]));
                [x, y]
            }
            "Delete" | "Backspace" => {
                self.remove_near([x, y], 2.0 * self.reach());
                [x, y]
            }
            _ => return,
        };
        event.prevent_default();
        self.cursor.set(Some(self.markers().kept_inside(moved)));
    }
}
