use super::{PAPER, Picture, Shape};
use crate::error::{Context, Result, invalid};
use tiny_skia::{Color, FillRule, LineCap, LineJoin, Paint, PathBuilder, Pixmap, Stroke, StrokeDash, Transform};

/// Pixels per unit of the drawing.
const SCALE: f32 = 2.0 / 3.0;

impl Picture {
    /// Returns the drawing as a PNG file, without text: letters would need a font, and fonts differ
    /// between machines.
    ///
    /// # Errors
    /// None for a drawing of this program.
    pub fn to_png(&self) -> Result<Vec<u8>> {
        let [width, height] = self.size.map(|side| (side as f32 * SCALE).round() as u32);
        let mut image =
            Pixmap::new(width, height).ok_or_else(|| invalid!("no picture of {width} × {height} pixels"))?;
        image.fill(colour(PAPER, 1.0));
        for shape in &self.shapes {
            paint(shape, &mut image);
        }
        image.encode_png().other()
    }
}

fn paint(shape: &Shape, image: &mut Pixmap) {
    let mut builder = PathBuilder::new();
    for (i, &[x, y]) in shape.points.iter().enumerate() {
        match i {
            0 => builder.move_to(x as f32, y as f32),
            _ => builder.line_to(x as f32, y as f32),
        }
    }
    if shape.closed {
        builder.close();
    }
    // A path without extent is not drawn.
    let Some(path) = builder.finish() else { return };
    let scale = Transform::from_scale(SCALE, SCALE);
    let mut brush = Paint::default();
    if let Some((area, opacity)) = shape.ink.area {
        brush.set_color(colour(area, opacity as f32));
        image.fill_path(&path, &brush, FillRule::Winding, scale, None);
    }
    let (line, width) = shape.ink.line;
    brush.set_color(colour(line, 1.0));
    let stroke = Stroke {
        width: width as f32,
        line_cap: LineCap::Round,
        line_join: LineJoin::Round,
        dash: shape
            .ink
            .dash
            .and_then(|dash| StrokeDash::new(dash.map(|length| length as f32).to_vec(), 0.0)),
        ..Stroke::default()
    };
    image.stroke_path(&path, &brush, &stroke, scale, None);
}

fn colour([r, g, b]: [u8; 3], opacity: f32) -> Color {
    let part = |byte: u8| f32::from(byte) / 255.0;
    Color::from_rgba(part(r), part(g), part(b), opacity.clamp(0.0, 1.0)).unwrap_or(Color::BLACK)
}
