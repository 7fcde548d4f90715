//! Puts scenes, fields and charts on an HTML canvas.

use std::{cell::RefCell, thread::LocalKey};

use plotters::prelude::IntoDrawingArea as _;
use plotters_canvas::CanvasBackend;
use wasm_bindgen::{Clamped, JsCast as _};
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, ImageData};

use super::{
    camera::Camera,
    heat,
    scene::{Actor, Scene, Trail},
    tint::shape_colour,
};
use crate::{
    charts::{self, Chart, ChartError, FieldChart, Hue, Outline, Theme},
    systems::Shape,
    ui::browser::pixel_ratio,
};

/// Largest canvas side [device px]; browsers refuse canvases beyond this.
const LARGEST: f64 = 8192.0;
/// Fewest device pixels in a CSS pixel of a chart: the backend rounds to whole pixels, and with two
/// curves stay smooth.
const SMOOTH: f64 = 2.0;
/// Share of the canvas left free around a scene.
const MARGIN: f64 = 0.04;

/// Sizes the canvas for sharp lines: its width and height in CSS pixels, and device pixels in one.
fn fit(canvas: &HtmlCanvasElement, least_ratio: f64) -> Option<([f64; 2], f64)> {
    let size = [
        f64::from(canvas.client_width()),
        f64::from(canvas.client_height()),
    ];
    if size[0] < 1.0 || size[1] < 1.0 {
        return None;
    }
    let largest = LARGEST / size[0].max(size[1]);
    let ratio = pixel_ratio().max(least_ratio).min(largest);
    let [width, height] = size.map(|length| (length * ratio).round() as u32);
    // Setting the size clears the canvas and is slow: only when it changed.
    if canvas.width() != width {
        canvas.set_width(width);
    }
    if canvas.height() != height {
        canvas.set_height(height);
    }
    Some((size, ratio))
}

fn context(canvas: &HtmlCanvasElement) -> Option<CanvasRenderingContext2d> {
    canvas.get_context("2d").ok()??.dyn_into().ok()
}

/// A cleared context that counts in CSS pixels.
fn prepared(canvas: &HtmlCanvasElement) -> Option<(CanvasRenderingContext2d, [f64; 2])> {
    let (size, ratio) = fit(canvas, 1.0)?;
    Some((clean(canvas, size, ratio)?, size))
}

fn clean(
    canvas: &HtmlCanvasElement,
    size: [f64; 2],
    ratio: f64,
) -> Option<CanvasRenderingContext2d> {
    let context = context(canvas)?;
    context
        .set_transform(ratio, 0.0, 0.0, ratio, 0.0, 0.0)
        .ok()?;
    context.clear_rect(0.0, 0.0, size[0], size[1]);
    context.set_line_cap("round");
    context.set_line_join("round");
    context.set_global_alpha(1.0);
    Some(context)
}

/// Draws a chart over the whole canvas. A canvas that is not shown is left alone.
pub fn chart(canvas: &HtmlCanvasElement, chart: &Chart, theme: &Theme) -> Result<(), ChartError> {
    match fit(canvas, SMOOTH) {
        Some((_, ratio)) => draw(canvas, chart, theme, ratio),
        None => Ok(()),
    }
}

/// A chart on a canvas of its own, for a file: `size` is its width and height in CSS pixels. None if it
/// could not be drawn.
pub fn picture(chart: &Chart, theme: &Theme, size: (u32, u32)) -> Option<HtmlCanvasElement> {
    let canvas = new_canvas()?;
    let ratio = pixel_ratio().max(SMOOTH);
    canvas.set_width((f64::from(size.0) * ratio).round() as u32);
    canvas.set_height((f64::from(size.1) * ratio).round() as u32);
    draw(&canvas, chart, theme, ratio).ok()?;
    Some(canvas)
}

fn draw(
    canvas: &HtmlCanvasElement,
    chart: &Chart,
    theme: &Theme,
    ratio: f64,
) -> Result<(), ChartError> {
    if let Some(context) = context(canvas) {
        context.set_line_join("round");
    }
    let backend = CanvasBackend::with_canvas_object(canvas.clone())
        .ok_or_else(|| ChartError::Backend("the browser has no 2-D canvas".to_owned()))?;
    charts::draw(chart, &theme.at_scale(ratio), &backend.into_drawing_area())
}

/// Draws robots, ghosts and trails.
pub fn scene(canvas: &HtmlCanvasElement, scene: &Scene, theme: &Theme) {
    let Some((context, size)) = prepared(canvas) else {
        return;
    };
    let Some(camera) = Camera::fit(
        scene.world,
        size.map(|length| length * (1.0 - 2.0 * MARGIN)),
    ) else {
        return;
    };
    let camera = Camera { size, ..camera };
    let camera = scene.follow.map_or(camera, |x| camera.centred_at(x));
    if let Some(height) = scene.ground {
        ground(&context, &camera, height, theme);
    }
    for trail in &scene.trails {
        fading_trail(&context, &camera, trail, theme);
    }
    for actor in &scene.actors {
        if actor.opacity < 1.0 {
            ghost(canvas, &context, &camera, actor, theme);
        } else {
            paint_actor(&context, &camera, actor, theme);
        }
    }
}

/// The ground, with a mark at each half metre so that motion is seen.
fn ground(context: &CanvasRenderingContext2d, camera: &Camera, height: f64, theme: &Theme) {
    let (left, right) = camera.reach();
    context.set_stroke_style_str(&theme.axis.css(1.0));
    context.set_line_width(1.5);
    stroke(context, camera, &[[left, height], [right, height]]);
    let first = (left * 2.0).ceil() as i64;
    let last = ((right * 2.0).floor() as i64).min(first.saturating_add(400));
    let tick = 6.0 / camera.scale;
    context.set_line_width(1.0);
    for mark in first..=last {
        let x = mark as f64 / 2.0;
        let long = if mark % 2 == 0 { tick } else { 0.55 * tick };
        stroke(context, camera, &[[x, height], [x, height - long]]);
    }
}

fn fading_trail(context: &CanvasRenderingContext2d, camera: &Camera, trail: &Trail, theme: &Theme) {
    let colour = theme.hue(trail.hue);
    context.set_line_width(2.0);
    for (from, to, alpha) in trail.segments() {
        context.set_stroke_style_str(&colour.css(0.6 * alpha));
        stroke(context, camera, &[from, to]);
    }
}

fn paint_actor(context: &CanvasRenderingContext2d, camera: &Camera, actor: &Actor, theme: &Theme) {
    for shape in &actor.shapes {
        paint_shape(context, camera, shape, actor.hue, theme);
    }
}

/// A translucent actor: painted solid on a sheet of its own, so that its parts do not shine
/// through each other, then laid over the picture.
fn ghost(
    canvas: &HtmlCanvasElement,
    context: &CanvasRenderingContext2d,
    camera: &Camera,
    actor: &Actor,
    theme: &Theme,
) -> Option<()> {
    let sheet = spare_canvas(&SHEET)?;
    if (sheet.width(), sheet.height()) != (canvas.width(), canvas.height()) {
        sheet.set_width(canvas.width());
        sheet.set_height(canvas.height());
    }
    let ratio = f64::from(canvas.width()) / camera.size[0];
    let above = clean(&sheet, camera.size, ratio)?;
    paint_actor(&above, camera, actor, theme);
    context.set_global_alpha(actor.opacity.clamp(0.0, 1.0));
    let drawn = context.draw_image_with_html_canvas_element_and_dw_and_dh(
        &sheet,
        0.0,
        0.0,
        camera.size[0],
        camera.size[1],
    );
    context.set_global_alpha(1.0);
    drawn.ok()
}

fn paint_shape(
    context: &CanvasRenderingContext2d,
    camera: &Camera,
    shape: &Shape,
    hue: Option<Hue>,
    theme: &Theme,
) {
    match shape {
        Shape::Line {
            points,
            width,
            role,
        } => {
            context.set_stroke_style_str(&shape_colour(*role, hue, theme).css(1.0));
            context.set_line_width(camera.length(*width, 1.5));
            stroke(context, camera, points);
        }
        Shape::Polygon { points, role } => {
            context.set_fill_style_str(&shape_colour(*role, hue, theme).css(1.0));
            fill(context, camera, points);
        }
        Shape::Disc {
            centre,
            radius,
            role,
        } => {
            context.set_fill_style_str(&shape_colour(*role, hue, theme).css(1.0));
            disc(
                context,
                camera.to_pixel(*centre),
                camera.length(*radius, 2.0),
            );
        }
    }
}

fn path(context: &CanvasRenderingContext2d, camera: &Camera, points: &[[f64; 2]]) {
    context.begin_path();
    for (k, &point) in points.iter().enumerate() {
        let [x, y] = camera.to_pixel(point);
        if k == 0 {
            context.move_to(x, y);
        } else {
            context.line_to(x, y);
        }
    }
}

fn stroke(context: &CanvasRenderingContext2d, camera: &Camera, points: &[[f64; 2]]) {
    path(context, camera, points);
    context.stroke();
}

fn fill(context: &CanvasRenderingContext2d, camera: &Camera, points: &[[f64; 2]]) {
    path(context, camera, points);
    context.close_path();
    context.fill();
}

fn disc(context: &CanvasRenderingContext2d, [x, y]: [f64; 2], radius: f64) {
    context.begin_path();
    // Only a negative radius is an error, and the camera gives none.
    let _ = context.arc(x, y, radius, 0.0, std::f64::consts::TAU);
    context.fill();
}

/// Draws a field with its lines, sources and points, and a cross at `cursor`. Returns the camera
/// that finds the place under the pointer; none if nothing could be drawn.
pub fn field(
    canvas: &HtmlCanvasElement,
    field: &FieldChart,
    points: &[[f64; 2]],
    cursor: Option<[f64; 2]>,
    theme: &Theme,
) -> Option<Camera> {
    let (context, size) = prepared(canvas)?;
    let camera = Camera::fit(field.domain, size)?;
    heat_map(&context, &camera, field, theme);
    context.set_stroke_style_str(&theme.ink.css(0.5));
    context.set_line_width(1.0);
    for line in &field.lines {
        stroke(&context, &camera, line);
    }
    for outline in &field.outlines {
        let hue = match outline.sign {
            1.. => Hue::Camel,
            0 => Hue::Neutral,
            _ => Hue::Anil,
        };
        context.set_fill_style_str(&theme.hue(hue).css(1.0));
        fill(&context, &camera, &outline.points);
        context.set_stroke_style_str(&theme.ink.css(0.9));
        context.stroke();
        sign(&context, &camera, outline, theme);
    }
    for &point in points {
        let pixel = camera.to_pixel(point);
        context.set_fill_style_str(&theme.paper.css(0.95));
        disc(&context, pixel, 6.0);
        context.set_fill_style_str(&theme.ink.css(1.0));
        disc(&context, pixel, 3.75);
    }
    if let Some(cursor) = cursor {
        cross(&context, camera.to_pixel(cursor), theme);
    }
    Some(camera)
}

/// A plus or a minus on a round source; plates are told apart by colour and place.
fn sign(context: &CanvasRenderingContext2d, camera: &Camera, outline: &Outline, theme: &Theme) {
    let ends = |axis: usize| {
        let places = outline.points.iter().map(|point| point[axis]);
        places.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
            (low.min(x), high.max(x))
        })
    };
    let ((left, right), (bottom, top)) = (ends(0), ends(1));
    let size = camera.length(right - left, 0.0);
    let is_round = (size - camera.length(top - bottom, 0.0)).abs() < 0.1 * size;
    if outline.sign == 0 || !is_round || size < 8.0 {
        return;
    }
    let [x, y] = camera.to_pixel([(left + right) / 2.0, (bottom + top) / 2.0]);
    let arm = 0.24 * size;
    context.set_stroke_style_str(&theme.paper.css(1.0));
    context.set_line_width((0.1 * size).max(1.5));
    context.begin_path();
    context.move_to(x - arm, y);
    context.line_to(x + arm, y);
    if outline.sign > 0 {
        context.move_to(x, y - arm);
        context.line_to(x, y + arm);
    }
    context.stroke();
    context.set_line_width(1.0);
}

fn cross(context: &CanvasRenderingContext2d, [x, y]: [f64; 2], theme: &Theme) {
    for (colour, width) in [(theme.paper, 4.0), (theme.ink, 1.5)] {
        context.set_stroke_style_str(&colour.css(0.9));
        context.set_line_width(width);
        context.begin_path();
        for (dx, dy) in [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)] {
            context.move_to(x + 4.0 * dx, y + 4.0 * dy);
            context.line_to(x + 13.0 * dx, y + 13.0 * dy);
        }
        context.stroke();
    }
}

/// A canvas that is never shown.
type Spare = RefCell<Option<HtmlCanvasElement>>;

thread_local! {
    /// Holds a heat map at one pixel a value before it is stretched.
    static SMALL: Spare = const { RefCell::new(None) };
    /// Holds a ghost before it is laid over the picture.
    static SHEET: Spare = const { RefCell::new(None) };
}

fn spare_canvas(spare: &'static LocalKey<Spare>) -> Option<HtmlCanvasElement> {
    spare.with_borrow_mut(|slot| {
        if slot.is_none() {
            *slot = new_canvas();
        }
        slot.clone()
    })
}

fn new_canvas() -> Option<HtmlCanvasElement> {
    let document = web_sys::window()?.document()?;
    document.create_element("canvas").ok()?.dyn_into().ok()
}

fn heat_map(
    context: &CanvasRenderingContext2d,
    camera: &Camera,
    field: &FieldChart,
    theme: &Theme,
) -> Option<()> {
    let pixels = heat::pixels(field, theme)?;
    let small = spare_canvas(&SMALL)?;
    small.set_width(pixels.width);
    small.set_height(pixels.height);
    let image = ImageData::new_with_u8_clamped_array_and_sh(
        Clamped(&pixels.rgba),
        pixels.width,
        pixels.height,
    );
    self::context(&small)?
        .put_image_data(&image.ok()?, 0.0, 0.0)
        .ok()?;
    let [low, high] = field.domain;
    let [left, bottom] = camera.to_pixel(low);
    let [right, top] = camera.to_pixel(high);
    context.set_image_smoothing_enabled(true);
    // Values lie on the border of the domain: the outer half pixels are cut off.
    context
        .draw_image_with_html_canvas_element_and_sw_and_sh_and_dx_and_dy_and_dw_and_dh(
            &small,
            0.5,
            0.5,
            f64::from(pixels.width) - 1.0,
            f64::from(pixels.height) - 1.0,
            left,
            top,
            right - left,
            bottom - top,
        )
        .ok()
}
