//! Text for people: aligned tables, units, plurals, numbers.

use console::measure_text_width;

/// Returns the text with control characters escaped, except line ends and tabs: text from a file
/// could otherwise control the terminal.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            c if c.is_control() => shown.extend(c.escape_default()),
            c => shown.push(c),
        }
    }
    shown
}

/// Returns "1 body", "3 bodies".
pub fn count(n: usize, what: &str) -> String {
    match (n, what.strip_suffix('y')) {
        (1, _) => format!("1 {what}"),
        (_, Some(stem)) => format!("{n} {stem}ies"),
        (_, None) => format!("{n} {what}s"),
    }
}

/// Returns rows as lines of text with aligned columns. Line ends and tabs in cells are escaped.
pub fn aligned<const N: usize>(rows: &[[String; N]]) -> String {
    let in_line = |cell: &String| visible(cell).replace('\n', "\\n").replace('\t', "\\t");
    let rows: Vec<[String; N]> = rows.iter().map(|row| row.each_ref().map(in_line)).collect();
    let widths: [usize; N] =
        std::array::from_fn(|i| rows.iter().map(|row| measure_text_width(&row[i])).max().unwrap_or(0));
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| {
            let gap = width - measure_text_width(cell);
            format!("{cell}{}", " ".repeat(gap))
        });
        format!("  {}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

/// Returns FMI's `kg.m2/s` in the form `kg·m²/s`.
pub fn typeset(unit: &str) -> String {
    unit.replace('.', "·")
        .replace('2', "²")
        .replace('3', "³")
        .replace('4', "⁴")
}

/// Returns a number with `digits` significant digits, and an exponent if it is very small or large.
pub fn number(value: f64, digits: usize) -> String {
    let magnitude = value.abs();
    if value == 0.0 {
        "0".to_owned()
    } else if !(1e-3..1e6).contains(&magnitude) {
        let text = format!("{value:.*e}", digits - 1);
        match text.split_once('e') {
            Some((mantissa, exponent)) => format!("{}e{exponent}", trimmed(mantissa)),
            None => text,
        }
    } else {
        let before = libm::log10(magnitude).floor() as i32 + 1;
        let after = usize::try_from(digits as i32 - before).unwrap_or(0);
        trimmed(&format!("{value:.after$}")).to_owned()
    }
}

fn trimmed(decimal: &str) -> &str {
    match decimal.contains('.') {
        true => decimal.trim_end_matches('0').trim_end_matches('.'),
        false => decimal,
    }
}

/// Returns a number of bytes like "412 kB".
pub fn size(bytes: usize) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{:.0} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;

    unit_tests![
        numbers_are_printed_with_as_few_digits_as_needed,
        control_characters_are_escaped,
        plurals,
    ];

    fn numbers_are_printed_with_as_few_digits_as_needed() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (-45.928_029_27, "-45.928"),
            (0.012_345_678, "0.0123457"),
            (3.2e-16, "3.2e-16"),
            (12_345_678.0, "1.23457e7"),
            (1500.0, "1500"),
            (123_456.7, "123457"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value, 6), text);
        }
    }

    fn control_characters_are_escaped() {
        assert_eq!(visible("a\u{1b}[2Jb\u{9b}\r\n\tµ"), "a\\u{1b}[2Jb\\u{9b}\\r\n\tµ");
    }

    fn plurals() {
        assert_eq!(
            [count(1, "body"), count(2, "body"), count(0, "joint")],
            ["1 body", "2 bodies", "0 joints"]
        );
    }
}
