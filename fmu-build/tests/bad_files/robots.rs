//! Damaged and unusual URDF files.

use crate::campaign::{Outcome, run};
use crate::mutate;
use crate::program::{Desk, file};
use rand::{Rng, RngExt};
use std::fmt::Write;

#[test]
fn damaged_robot_is_refused_or_imported() {
    let robots = ["branched_arm", "chaser", "gantry"].map(|name| file(&format!("tests/python/urdf/{name}.urdf")));
    let desk = Desk::new();
    run("robots", 80, |rng, made| {
        let (mut text, other) = (robots[rng.random_range(0..3)].clone(), &robots[rng.random_range(0..3)]);
        match rng.random_range(0..8) {
            0 | 1 => {
                *made = text.into_bytes();
                mutate::bytes(rng, made, other.as_bytes());
            }
            2 => {
                nest(rng, &mut text);
                *made = text.into_bytes();
            }
            _ => {
                mutate::text(rng, &mut text, other);
                *made = text.into_bytes();
            }
        }
        desk.write("robot.urdf", &made)?;
        let mut arguments = vec!["import", "robot.urdf", "--force"];
        if rng.random() {
            arguments.push("--keep-fixed");
        }
        if rng.random() {
            arguments.extend(["--base", "floating"]);
        }
        desk.run(&arguments)
    });
}

/// Inserts deeply nested elements at a random position.
fn nest(rng: &mut impl Rng, text: &mut String) {
    let tags: Vec<usize> = text.match_indices('<').map(|(i, _)| i).collect();
    let deep = [97, 100, 101, 500_000][rng.random_range(0..4)];
    let elements = "<a>".repeat(deep) + &"</a>".repeat(deep);
    text.insert_str(tags[rng.random_range(1..tags.len())], &elements);
}

/// Returns a robot of many links with mass; link i is on a joint of the link `parent(i)`.
fn snake(links: usize, parent: impl Fn(usize) -> String) -> String {
    let mut text = "<robot name=\"snake\">\n".to_owned();
    for i in 0..links {
        let _ = writeln!(
            text,
            "<link name=\"l{i}\"><inertial><origin xyz=\"0.5 0 0\"/><mass value=\"1\"/>\
             <inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial></link>"
        );
        if i > 0 {
            let _ = writeln!(
                text,
                "<joint name=\"j{i}\" type=\"continuous\"><parent link=\"{}\"/><child link=\"l{i}\"/>\
                 <origin xyz=\"1 0 0\"/></joint>",
                parent(i)
            );
        }
    }
    text + "</robot>\n"
}

/// Functions that recurse over links would overflow the stack.
#[test]
fn a_chain_of_twenty_thousand_links_is_imported() {
    let desk = Desk::new();
    desk.write("snake.urdf", snake(20_000, |i| format!("l{}", i - 1)))
        .expect("a file");
    assert_eq!(desk.run(&["import", "snake.urdf"]), Ok(Outcome::Works));
}

/// A search of all names for each error would exceed the time limit.
#[test]
fn twenty_thousand_errors_are_reported() {
    let desk = Desk::new();
    desk.write("snake.urdf", snake(20_000, |i| format!("k{}", i - 1)))
        .expect("a file");
    assert_eq!(desk.run(&["import", "snake.urdf"]), Ok(Outcome::Refused));
}

/// A merged link: its name appears in a comment.
#[test]
fn line_ends_in_names_do_not_end_comments() {
    let mut text = file("tests/python/urdf/branched_arm.urdf");
    for name in ["motor", "shoulder"] {
        text = text.replace(&format!("\"{name}\""), &format!("\"{name}&#10;nonsense = 1 #\""));
    }
    let desk = Desk::new();
    desk.write("robot.urdf", text).expect("a file");
    assert_eq!(desk.run(&["import", "robot.urdf"]), Ok(Outcome::Works));
}
