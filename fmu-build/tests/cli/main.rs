//! The program as run by users: its files, messages and exit codes.

mod assemble;
mod campaign;
mod check;
mod completions;
mod demo;
mod desk;
#[path = "../../../tests/example_files/mod.rs"]
mod example_files;
mod import;
mod include;
mod library;
mod linearize;
#[path = "../../../tests/long/mod.rs"]
mod long;
#[path = "../../../tests/messages/mod.rs"]
mod messages;
mod outside;
mod packing;
mod pe;
mod plan;
mod printing;
mod runs;
mod table;
mod verbs;
