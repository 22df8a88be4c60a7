//! Golden file of the messages of errors and events. A test asserts kinds, names, places and numbers,
//! and records the messages that it produces; their text is compared with the file.
//!
//! `GOLDEN=write cargo test` writes the file anew; read the changes in the diff.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::Path;

type Sections = BTreeMap<String, Vec<String>>;
/// The name, the messages in the golden file, and those produced so far.
type Section = (String, Vec<String>, Vec<String>);

const HINT: &str = "in tests/golden/messages.txt; GOLDEN=write writes it anew";

thread_local! {
    static SECTION: RefCell<Option<Section>> = const { RefCell::new(None) };
}

/// The section of a test: as long as this value lives, the test records its messages.
#[must_use]
pub struct Recording(());

/// Begins the section of the test that runs in this thread.
pub fn of_this_test() -> Recording {
    let name = program() + std::thread::current().name().expect("a test has a name");
    let golden = read(&mut open()).remove(&name).unwrap_or_default();
    let before = SECTION.replace(Some((name, golden, Vec::new())));
    assert!(before.is_none(), "a test has one section");
    Recording(())
}

/// Returns the beginning of the names of this program's sections: its name, without the hash that
/// cargo appends.
fn program() -> String {
    let path = std::env::current_exe().expect("a running program has a path");
    let name = path.file_name().expect("a file").to_string_lossy();
    name.split('-').next().unwrap_or_default().to_owned() + "::"
}

/// Records a message; it must equal the one at its position in the golden file.
pub fn record(message: impl Display) {
    let message = message.to_string();
    let lines: Vec<&str> = message
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.is_empty())
        .collect();
    let message = lines.join("\n");
    SECTION.with_borrow_mut(|section| {
        let (name, golden, recorded) = section.as_mut().expect("the test begins with messages::of_this_test()");
        let expected = golden.get(recorded.len()).map_or("(nothing)", String::as_str);
        assert!(
            writes() || message == expected,
            "{name}:\n{message}\nis not\n{expected}\n{HINT}"
        );
        recorded.push(message);
    });
}

impl Drop for Recording {
    fn drop(&mut self) {
        let (name, golden, recorded) = SECTION.take().expect("it has begun");
        if std::thread::panicking() {
            return;
        }
        if writes() {
            return rewrite(|sections| _ = sections.insert(name, recorded));
        }
        let (recorded, golden) = (recorded.len(), golden.len());
        assert!(recorded == golden, "{name}: {recorded} messages, but {golden} {HINT}");
    }
}

/// Returns a text with `#` for each number with a decimal point or an exponent, which round-off may
/// change.
#[allow(dead_code, reason = "not every test program has such numbers")]
pub fn without_decimals(message: impl Display) -> String {
    let message = message.to_string();
    let words = message.split(' ').map(|word| {
        let plain = word.trim_matches(|c: char| !c.is_ascii_digit() && c != '-');
        match plain.contains(['.', 'e']) && plain.parse::<f64>().is_ok() {
            true => word.replacen(plain, "#", 1),
            false => word.to_owned(),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Returns the output of `grapple check` with `#` for the measured speed.
#[allow(dead_code, reason = "not every test program checks specs")]
pub fn without_speed(checked: &str) -> String {
    let lines = checked.lines().map(|line| match line.contains(" times real time ") {
        true => line
            .rsplit_once(": ")
            .map_or(line.to_owned(), |(setting, _)| setting.to_owned() + ": #"),
        false => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

// The library lists it; a test program runs it as its own.
#[cfg(not(test))]
unit_tests![every_section_of_the_golden_file_has_its_test];

#[cfg_attr(test, test)]
fn every_section_of_the_golden_file_has_its_test() {
    let program = std::env::current_exe().expect("a running program has a path");
    let list = std::process::Command::new(program).arg("--list").output();
    let list = String::from_utf8(list.expect("it can be started").stdout).expect("names");
    let own = self::program();
    let is_left_over = |name: &String| {
        let test = name.strip_prefix(&own);
        test.is_some_and(|test| !list.lines().any(|line| line.strip_suffix(": test") == Some(test)))
    };
    if writes() {
        rewrite(|sections| sections.retain(|name, _| !is_left_over(name)));
    }
    let left: Vec<String> = read(&mut open()).into_keys().filter(is_left_over).collect();
    assert!(left.is_empty(), "sections without a test {HINT}: {left:?}");
}

fn writes() -> bool {
    std::env::var_os("GOLDEN").is_some_and(|value| value == "write")
}

/// Opens the golden file; other tests and processes wait until it is closed.
fn open() -> File {
    let folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let mut paths = folders.map(|folder| folder.join("tests/golden/messages.txt"));
    let path = paths.find(|path| path.exists()).expect("the golden file is there");
    let file = File::options().read(true).write(writes()).open(path).expect("it opens");
    file.lock().expect("locked");
    file
}

/// Reads sections: `[test]`, then every message from `- ` on, with its further lines indented.
fn read(file: &mut File) -> Sections {
    let mut text = String::new();
    file.read_to_string(&mut text).expect("a text");
    let sections = text
        .trim_end()
        .split("\n\n")
        .filter_map(|section| section.split_once("\n- "));
    let messages = |text: &str| {
        text.split("\n- ")
            .map(|message| message.replace("\n  ", "\n"))
            .collect()
    };
    sections
        .map(|(name, text)| (name[1..name.len() - 1].to_owned(), messages(text)))
        .collect()
}

/// Returns the text of a section.
fn section(name: &str, messages: &[String]) -> String {
    let messages = messages
        .iter()
        .map(|message| format!("- {}\n", message.replace('\n', "\n  ")));
    format!("[{name}]\n{}", messages.collect::<String>())
}

/// Changes the sections of the golden file.
fn rewrite(change: impl FnOnce(&mut Sections)) {
    let mut file = open();
    let mut sections = read(&mut file);
    change(&mut sections);
    sections.retain(|_, messages| !messages.is_empty());
    let texts: Vec<String> = sections
        .iter()
        .map(|(name, messages)| section(name, messages))
        .collect();
    file.set_len(0).and_then(|()| file.rewind()).expect("emptied");
    file.write_all(texts.join("\n").as_bytes()).expect("written");
}
