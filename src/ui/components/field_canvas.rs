//! A field on a canvas, with points that the visitor places.

use leptos::{ev, html::Canvas, prelude::*};

use crate::{
    charts::{FieldChart, Theme},
    ui::{
        browser::{self, Throttle},
        canvas::{Camera, markers::Markers, paint},
    },
};

use super::chart_view::REDRAWS;

/// How near the pointer has to be to a point to take it [px].
const REACH: f64 = 14.0;

/// How near the pointer has to be to a point that can only be moved [px].
const FAR_REACH: f64 = 26.0;

/// How far a finger that adds a point may move; beyond, it scrolls [px].
const TAP: f64 = 8.0;

/// A field with measured points. With `on_points`, a click or tap adds a point, dragging moves it, and a
/// double click removes it; by keyboard, arrows move a cross, Enter adds and Delete removes. Points
/// that are only `movable` are neither added nor removed: Enter chooses one, arrows move it.
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
    /// Whether points are only moved.
    #[prop(optional)]
    movable: bool,
    /// Whether the points are not drawn, because something in the field marks them.
    #[prop(into, optional)]
    hidden: Signal<bool>,
    /// What is to be seen, in words.
    #[prop(into)]
    label: Signal<String>,
    /// Where it is drawn, for those who want the picture.
    #[prop(optional)]
    canvas: NodeRef<Canvas>,
) -> impl IntoView {
    let dark = browser::dark_mode();
    let resizes = browser::resizes(canvas);
    let cursor = RwSignal::new(None::<[f64; 2]>);
    let camera = StoredValue::new(None::<Camera>);
    let throttle = Throttle::new(REDRAWS);
    Effect::new(move |_| {
        resizes.track();
        dark.track();
        field.track();
        points.track();
        hidden.track();
        cursor.track();
        let Some(canvas) = canvas.get() else {
            return;
        };
        throttle.run(move || {
            let theme = Theme::new(dark.try_get_untracked().unwrap_or(false));
            let shown = match hidden.try_get_untracked() {
                Some(false) => points.try_get_untracked().unwrap_or_default(),
                _ => Vec::new(),
            };
            let cross = cursor.try_get_untracked().flatten();
            let seen = field
                .try_with_untracked(|field| paint::field(&canvas, field, &shown, cross, &theme));
            camera.try_set_value(seen.flatten());
        });
    });
    let editor = on_points.map(|tell| Editor {
        field,
        points,
        tell,
        limit,
        movable,
        camera,
        cursor,
        chosen: StoredValue::new(0),
    });
    let ratio = move || field.with(|f| aspect(f.domain));
    let class = match &editor {
        Some(_) if movable => "picture picture--movable",
        Some(_) => "picture picture--editable",
        None => "picture",
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
    let began = StoredValue::new([0.0; 2]);
    let down = move |event: ev::PointerEvent| {
        held.set_value(editor.take(&event));
        began.set_value(pixel(&event));
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
    let up = move |event: ev::PointerEvent| {
        if held.get_value().is_none() && is_finger(&event) && stayed(began.get_value(), &event) {
            editor.add_under(&event);
        }
        release(event);
    };
    let spoken = move || {
        let keys = if editor.movable {
            "Enter chooses the next point, arrow keys move it."
        } else {
            "Arrow keys move the cross, Enter adds a point, Delete removes one."
        };
        format!("{}. {keys}", label.get().trim_end_matches('.'))
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
                on:pointerup=up
                on:pointercancel=release
                on:dblclick=move |event| editor.remove_under(&event)
                on:keydown=move |event| editor.key(&event)
                on:blur=move |_| editor.cursor.set(None)
            ></canvas>
        </div>
    }
    .into_any()
}

/// The place under the pointer from the upper left corner of the canvas [px].
fn pixel(event: &ev::MouseEvent) -> [f64; 2] {
    [event.offset_x(), event.offset_y()].map(f64::from)
}

/// A finger may be about to scroll: only when it goes up again is it known to mean the place.
fn is_finger(event: &ev::PointerEvent) -> bool {
    event.pointer_type() == "touch"
}

fn stayed(began: [f64; 2], event: &ev::PointerEvent) -> bool {
    let mut moves = began.into_iter().zip(pixel(event));
    moves.all(|(from, to)| (to - from).abs() < TAP)
}

/// What changes the points.
#[derive(Clone, Copy)]
struct Editor {
    field: Signal<FieldChart>,
    points: Signal<Vec<[f64; 2]>>,
    tell: Callback<Vec<[f64; 2]>>,
    limit: usize,
    movable: bool,
    camera: StoredValue<Option<Camera>>,
    cursor: RwSignal<Option<[f64; 2]>>,
    /// The point that the keyboard moves.
    chosen: StoredValue<usize>,
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
        Some(camera.to_world(pixel(event)))
    }

    /// How far the pointer reaches in the field.
    fn reach(&self) -> f64 {
        let reach = if self.movable { FAR_REACH } else { REACH };
        self.camera
            .get_value()
            .map_or(0.0, |camera| reach / camera.scale)
    }

    /// The point under the pointer, or a new one unless the pointer is a finger.
    fn take(&self, event: &ev::PointerEvent) -> Option<usize> {
        let at = self.place(event)?;
        self.cursor.set(None);
        match self.markers().nearest(at, self.reach()) {
            None if !is_finger(event) => self.add_under(event),
            found => found,
        }
    }

    fn add_under(&self, event: &ev::MouseEvent) -> Option<usize> {
        let at = self.place(event).filter(|_| !self.movable)?;
        self.change(|markers| markers.add(at))
    }

    fn remove_under(&self, event: &ev::MouseEvent) {
        if let Some(at) = self.place(event) {
            self.remove_near(at, self.reach());
        }
    }

    fn remove_near(&self, at: [f64; 2], reach: f64) {
        if self.movable {
            return;
        }
        if let Some(index) = self.markers().nearest(at, reach) {
            self.change(|markers| markers.remove(index));
        }
    }

    /// Where the keyboard is: on the chosen point, or on the cross.
    fn place_of_keys(&self, [low, high]: [[f64; 2]; 2]) -> [f64; 2] {
        let chosen = self.chosen.get_value();
        let point = self
            .points
            .with_untracked(|points| points.get(chosen).copied());
        let middle = [(low[0] + high[0]) / 2.0, (low[1] + high[1]) / 2.0];
        let cross = self.cursor.get_untracked().unwrap_or(middle);
        point.filter(|_| self.movable).unwrap_or(cross)
    }

    fn choose_next(&self) {
        let count = self.points.with_untracked(Vec::len).max(1);
        if self.cursor.get_untracked().is_some() {
            self.chosen
                .update_value(|chosen| *chosen = (*chosen + 1) % count);
        }
    }

    fn key(&self, event: &ev::KeyboardEvent) {
        let [low, high] = self.field.with_untracked(|f| f.domain);
        let [x, y] = self.place_of_keys([low, high]);
        let step = (high[0] - low[0]) * if event.shift_key() { 0.1 } else { 0.02 };
        let moved = match event.key().as_str() {
            "ArrowLeft" => [x - step, y],
            "ArrowRight" => [x + step, y],
            "ArrowUp" => [x, y + step],
            "ArrowDown" => [x, y - step],
            "Enter" | " " if self.movable => {
                self.choose_next();
                self.place_of_keys([low, high])
            }
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
        if self.movable {
            self.change(|markers| markers.shift(self.chosen.get_value(), moved));
        }
        self.cursor.set(Some(self.markers().kept_inside(moved)));
    }
}
