//! `grapple demo`.

use crate::desk::Desk;

#[test]
fn demo_builds_and_runs_the_fmu_of_an_example_and_can_be_repeated() {
    let desk = Desk::new();
    for _ in 0..2 {
        let told = desk.succeed(&["demo", "--template", "two_link"]);
        for command in ["new two_link", "build two_link.toml", "simulate two_link.fmu"] {
            assert!(told.contains(&format!("grapple {command}")), "{told}");
        }
        assert!(told.contains("two_link.html: open it in a browser"), "{told}");
    }
    let page = String::from_utf8(desk.bytes("grapple-demo/two_link.html")).expect("UTF-8");
    assert!(page.contains("</html>"));
    assert!(
        desk.contents("grapple-demo/two_link.fmu")
            .contains_key("modelDescription.xml")
    );
}

#[test]
fn demo_in_a_folder_that_cannot_be_made_is_an_error() {
    let desk = Desk::new();
    desk.write("taken", "a file");
    let outcome = desk.run(&["demo", "--folder", "taken"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.out);
    assert!(
        outcome.errors.contains("cannot use the folder taken"),
        "{}",
        outcome.errors
    );
}
