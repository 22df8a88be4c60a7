//! Messages of errors and events, all in one golden file, so that tests need to know no sentence: a
//! test asserts kinds, names, places and numbers, and records the messages that it has produced.
//!
//! `GOLDEN=write cargo test` writes the file anew; read the changes in the diff.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::Path;

type Sections = BTreeMap<String, Vec<String>>;

/// Section of a test: the messages in the golden file, and those that the test has produced.
struct Section {
    name: String,
    golden: Vec<String>,
    told: Vec<String>,
}

thread_local! {
    static SECTION: RefCell<Option<Section>> = const { RefCell::new(None) };
}

/// The section of a test as long as the test runs.
#[must_use = "the section ends when this value is dropped"]
pub struct Recording(());

/// Begins the section of the test that runs in this thread.
pub fn of_this_test() -> Recording {
    let name = std::thread::current().name().expect("a test has a name").to_owned();
    let name = format!("{}::{name}", env!("CARGO_CRATE_NAME"));
    let golden = read(&mut open()).remove(&name).unwrap_or_default();
    let section = Section {
        name,
        golden,
        told: Vec::new(),
    };
    assert!(SECTION.replace(Some(section)).is_none(), "a test has one section");
    Recording(())
}

/// Records a message of the test; it must equal the message at its position in the golden file.
pub fn record(message: impl Display) {
    let lines: Vec<String> = message.to_string().lines().map(|l| l.trim_end().to_owned()).collect();
    SECTION.with_borrow_mut(|section| {
        let section = section.as_mut().expect("the test begins with messages::of_this_test()");
        section.told.push(lines.join("\n"));
        let place = section.told.len() - 1;
        let (told, golden) = (&section.told[place], section.golden.get(place));
        assert!(
            writes() || golden == Some(told),
            "message {place} of {}:\n{told}\nin tests/golden/messages.txt:\n{}\n(GOLDEN=write writes the file anew)",
            section.name,
            golden.map_or("none", String::as_str)
        );
    });
}

/// Returns a text with `#` for each number with a decimal point or an exponent: round-off may change
/// it.
#[allow(dead_code, reason = "not every test program has such numbers")]
pub fn without_decimals(message: impl Display) -> String {
    let text = message.to_string();
    let words = text.split(' ').map(|word| {
        let plain = word.trim_matches(|c: char| !c.is_ascii_digit() && c != '-');
        let is_decimal = plain.contains(['.', 'e']) && plain.parse::<f64>().is_ok();
        if is_decimal {
            word.replacen(plain, "#", 1)
        } else {
            word.to_owned()
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

impl Drop for Recording {
    fn drop(&mut self) {
        let section = SECTION.take().expect("it has begun");
        if std::thread::panicking() {
            return;
        }
        if writes() {
            return rewrite(|sections| _ = sections.insert(section.name, section.told));
        }
        let (told, golden) = (section.told.len(), section.golden.len());
        assert!(
            told == golden,
            "{}: {told} messages, and {golden} in tests/golden/messages.txt (GOLDEN=write writes the file anew)",
            section.name
        );
    }
}

#[test]
fn every_section_of_the_golden_file_has_its_test() {
    let program = std::env::current_exe().expect("a running program has a path");
    let list = std::process::Command::new(program)
        .arg("--list")
        .output()
        .expect("it can be started");
    let list = String::from_utf8(list.stdout).expect("names of functions");
    let tests = list.lines().filter_map(|line| line.strip_suffix(": test"));
    let binary = concat!(env!("CARGO_CRATE_NAME"), "::");
    let tests: BTreeSet<String> = tests.map(|test| format!("{binary}{test}")).collect();
    let is_left_over = |name: &String| name.starts_with(binary) && !tests.contains(name);
    if writes() {
        rewrite(|sections| sections.retain(|name, _| !is_left_over(name)));
    }
    let left: Vec<String> = read(&mut open()).into_keys().filter(is_left_over).collect();
    assert!(left.is_empty(), "without a test (GOLDEN=write): {left:?}");
}

fn writes() -> bool {
    std::env::var_os("GOLDEN").is_some_and(|value| value == "write")
}

/// Opens the golden file; other tests and processes wait until it is closed.
fn open() -> File {
    let folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let mut paths = folders.map(|folder| folder.join("tests/golden/messages.txt"));
    let path = paths.find(|path| path.exists()).expect("the golden file is there");
    let file = File::options()
        .read(true)
        .write(writes())
        .open(path)
        .expect("the golden file");
    file.lock().expect("locked");
    file
}

/// Reads sections: `[test]`, then every message from `- ` on, with its further lines indented.
fn read(file: &mut File) -> Sections {
    let mut text = String::new();
    file.read_to_string(&mut text).expect("the golden file");
    let mut sections = Sections::new();
    for section in text.split("\n[").filter_map(|section| section.split_once("]\n")) {
        let messages = section
            .1
            .strip_prefix("- ")
            .unwrap_or_default()
            .trim_end()
            .split("\n- ");
        let messages = messages.map(|message| message.replace("\n  ", "\n"));
        sections.insert(section.0.trim_start_matches('[').to_owned(), messages.collect());
    }
    sections
}

fn rewrite(change: impl FnOnce(&mut Sections)) {
    let mut file = open();
    let mut sections = read(&mut file);
    change(&mut sections);
    let mut text = String::new();
    for (name, messages) in sections.iter().filter(|(_, messages)| !messages.is_empty()) {
        let messages: Vec<String> = messages.iter().map(|message| message.replace('\n', "\n  ")).collect();
        text += &format!("[{name}]\n- {}\n\n", messages.join("\n- "));
    }
    file.set_len(0).and_then(|()| file.rewind()).expect("emptied");
    file.write_all(text.trim_end().as_bytes())
        .and_then(|()| file.write_all(b"\n"))
        .expect("written");
}
