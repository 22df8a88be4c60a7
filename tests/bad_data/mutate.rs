//! Mutation of valid data: bytes regardless of their meaning, and the words, numbers and lines of a
//! text.

use rand::{Rng, RngExt};
use std::ops::Range;

/// Damages bytes in one to four ways; blocks are copied from the bytes themselves or from another
/// valid example.
pub fn bytes(rng: &mut impl Rng, bytes: &mut Vec<u8>, other: &[u8]) {
    for _ in 0..rng.random_range(1..=4) {
        if bytes.is_empty() {
            return;
        }
        let at = rng.random_range(0..bytes.len());
        match rng.random_range(0..8) {
            0 => bytes.truncate(at),
            1 => bytes[at] ^= 1 << rng.random_range(0..8),
            2 => bytes[at] = rng.random(),
            3 => {
                let new: Vec<u8> = (0..rng.random_range(1..=16)).map(|_| rng.random()).collect();
                bytes.splice(at..at, new);
            }
            4 => drop(bytes.drain(at..end(rng, at, bytes.len()))),
            5 => {
                let block = bytes[at..end(rng, at, bytes.len())].to_vec();
                bytes.splice(at..at, block);
            }
            6 => {
                let fill = [0, 0xFF, 0x80][rng.random_range(0..3)];
                let until = end(rng, at, bytes.len());
                bytes[at..until].fill(fill);
            }
            _ if !other.is_empty() => {
                let from = rng.random_range(0..other.len());
                let block = other[from..end(rng, from, other.len())].to_vec();
                let until = (at + block.len()).min(bytes.len());
                bytes.splice(at..until, block);
            }
            _ => {}
        }
    }
}

/// Returns the end of a block that begins at `at`, within `length`; most blocks are short.
fn end(rng: &mut impl Rng, at: usize, length: usize) -> usize {
    let longest = 1 << rng.random_range(0..12);
    (at + rng.random_range(1..=longest)).min(length)
}

/// Replacements of numbers: limits of types and counts, and values of other types.
const NUMBERS: [&str; 46] = [
    "0",
    "-0.0",
    "1",
    "-1",
    "2",
    "3",
    "7",
    "0.5",
    "1e-9",
    "1e-300",
    "5e-324",
    "1e9",
    "1e16",
    "1e150",
    "1e300",
    "1e308",
    "-1e308",
    "1e400",
    "nan",
    "inf",
    "-inf",
    "null",
    "true",
    "\"x\"",
    "\"1\"",
    "[]",
    "{}",
    "[1.0]",
    "[1, 0, 0]",
    "[[1]]",
    "63",
    "64",
    "65",
    "99",
    "100",
    "101",
    "255",
    "256",
    "257",
    "1000",
    "65536",
    "1000000",
    "1000000000",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
];

/// Replacements of names.
const NAMES: [&str; 10] = [
    "",
    "world",
    "time",
    "system",
    "1",
    "a.b",
    "../../x",
    "/dev/zero",
    "\\u0000",
    "\u{1F980}",
];

/// Damages a text, TOML or JSON, in one to three places, so that most of it can still be parsed.
pub fn text(rng: &mut impl Rng, text: &mut String, other: &str) {
    for _ in 0..rng.random_range(1..=3) {
        let kind = rng.random_range(0..20);
        match kind {
            0..=8 => {
                let new = match rng.random_range(0..40) {
                    0 => vec!["1.0"; 100_000].join(", "),
                    1 => format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000)),
                    2 => format!("{}1{}", "{a = ".repeat(10_000), "}".repeat(10_000)),
                    3..=12 => (rng.random_range(-3.0..3.0) * 10f64.powi(rng.random_range(-6..7))).to_string(),
                    13 => rng.random_range(0..300_u32).to_string(),
                    _ => NUMBERS[rng.random_range(0..NUMBERS.len())].to_owned(),
                };
                replace(rng, text, numbers, &new);
            }
            9..=12 => {
                let new = match rng.random_range(0..12) {
                    0 => "a".repeat(100_000),
                    1..=3 => NAMES[rng.random_range(0..NAMES.len())].to_owned(),
                    _ => pick(rng, text, names).unwrap_or_default(),
                };
                replace(rng, text, names, &new);
            }
            13..=15 => {
                let from = if rng.random() { other } else { text.as_str() };
                if let Some(new) = pick(rng, from, words) {
                    replace(rng, text, words, &new);
                }
            }
            _ => lines(rng, text, other),
        }
    }
}

/// Removes, repeats or swaps lines, or inserts lines of another text or a deeply nested key.
fn lines(rng: &mut impl Rng, text: &mut String, other: &str) {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let foreign: Vec<&str> = other.lines().collect();
    if lines.is_empty() || foreign.is_empty() {
        return;
    }
    let at = rng.random_range(0..lines.len());
    let to = rng.random_range(0..lines.len());
    match rng.random_range(0..6) {
        0 => drop(lines.remove(at)),
        1 => lines.insert(to, lines[at].clone()),
        2 => lines.swap(at, to),
        3 => drop(lines.drain(at.min(to)..at.max(to))),
        4 => lines.insert(at, foreign[rng.random_range(0..foreign.len())].to_owned()),
        _ if rng.random_range(0..8) == 0 => lines.insert(at, format!("{}a = 1", "a.".repeat(20_000))),
        _ => {
            let from = rng.random_range(0..foreign.len());
            let until = (from + rng.random_range(1..20)).min(foreign.len());
            let block = foreign[from..until].iter().map(|line| (*line).to_owned());
            lines.splice(at..at, block);
        }
    }
    *text = lines.join("\n");
}

/// Returns the byte ranges of all tokens of one kind in a text.
type Places = fn(&str) -> Vec<Range<usize>>;

fn replace(rng: &mut impl Rng, text: &mut String, places: Places, new: &str) {
    let all = places(text);
    if !all.is_empty() {
        text.replace_range(all[rng.random_range(0..all.len())].clone(), new);
    }
}

fn pick(rng: &mut impl Rng, text: &str, places: Places) -> Option<String> {
    let all = places(text);
    (!all.is_empty()).then(|| text[all[rng.random_range(0..all.len())].clone()].to_owned())
}

fn numbers(text: &str) -> Vec<Range<usize>> {
    let starts = |b: u8| b.is_ascii_digit() || b == b'-';
    let goes_on = |b: u8| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-' | b'_');
    runs(text, starts, goes_on)
}

fn words(text: &str) -> Vec<Range<usize>> {
    runs(
        text,
        |b| b.is_ascii_alphabetic(),
        |b| b.is_ascii_alphanumeric() || b == b'_',
    )
}

/// Returns the contents of quoted strings.
fn names(text: &str) -> Vec<Range<usize>> {
    let quotes: Vec<usize> = text.match_indices('"').map(|(i, _)| i).collect();
    quotes.chunks_exact(2).map(|pair| pair[0] + 1..pair[1]).collect()
}

/// Returns maximal runs of bytes: the first byte satisfies `starts`, the others `goes_on`. A run
/// does not begin inside a word.
fn runs(text: &str, starts: impl Fn(u8) -> bool, goes_on: impl Fn(u8) -> bool) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let inside = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.');
    let mut found = Vec::new();
    let mut i = 0;
    while i < bytes.len() {
        if starts(bytes[i]) && (i == 0 || !inside(bytes[i - 1])) {
            let length = bytes[i..].iter().take_while(|&&b| goes_on(b)).count();
            found.push(i..i + length);
            i += length;
        }
        i += 1;
    }
    found
}
