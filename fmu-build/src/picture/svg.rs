use super::{PAPER, Picture, Shape, Text, TextStyle};
use crate::html::escaped;
use std::fmt::Write;

impl Picture {
    /// Returns the drawing as an `<svg>` element with the names; `title` describes it.
    pub fn to_svg(&self, title: &str) -> String {
        let [width, height] = self.size;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\">\n\
             <title>{}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"{}\"/>\n\
             <g fill=\"none\" stroke-linejoin=\"round\" stroke-linecap=\"round\">\n",
            escaped(title),
            hex(PAPER)
        );
        for shape in self.shapes.iter().chain(&self.captions) {
            write_shape(shape, &mut svg);
        }
        svg += "</g>\n<g text-anchor=\"middle\" font-family=\"system-ui, 'DejaVu Sans', sans-serif\">\n";
        for text in &self.texts {
            write_text(text, &mut svg);
        }
        svg + "</g>\n</svg>\n"
    }
}

fn write_shape(shape: &Shape, svg: &mut String) {
    let mut path = String::new();
    for (i, [x, y]) in shape.points.iter().enumerate() {
        let _ = write!(path, "{}{x:.1} {y:.1}", if i == 0 { "M" } else { "L" });
    }
    if shape.closed {
        path.push('Z');
    }
    let (colour, width) = shape.ink.line;
    let _ = write!(
        svg,
        "<path d=\"{path}\" stroke=\"{}\" stroke-width=\"{width}\"",
        hex(colour)
    );
    if let Some((colour, opacity)) = shape.ink.area {
        let _ = write!(svg, " fill=\"{}\" fill-opacity=\"{opacity}\"", hex(colour));
    }
    if let Some([dash, gap]) = shape.ink.dash {
        let _ = write!(svg, " stroke-dasharray=\"{dash} {gap}\"");
    }
    *svg += "/>\n";
}

/// Writes a text, with a halo in the paper's colour that keeps it readable over lines.
fn write_text(text: &Text, svg: &mut String) {
    let size = text.style.size();
    let ([x, y], colour) = (text.at, hex(text.style.colour()));
    let manner = match text.style {
        TextStyle::Body => " font-weight=\"600\"",
        TextStyle::Frame => " font-style=\"italic\"",
        TextStyle::Joint | TextStyle::Small => "",
    };
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{:.1}\" font-size=\"{size}\" fill=\"{colour}\"{manner} stroke=\"{}\" stroke-width=\"3\" \
         stroke-opacity=\".8\" paint-order=\"stroke\">{}</text>",
        y + 0.36 * size,
        hex(PAPER),
        escaped(&text.text)
    );
}

fn hex([r, g, b]: [u8; 3]) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}
