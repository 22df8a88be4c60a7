//! Bad files: what the program reads is refused with a reason if it is cut short, damaged, foreign or hostile, or it still says something
//! that works. Archives are read as the program does; for all others the program itself is run. Specs are in `tests/bad_data`.

#![allow(unsafe_code)] // A counting allocator is an unsafe trait.

#[path = "../../src/archive.rs"]
#[allow(dead_code)] // The tool uses all of it.
mod archive;
mod archives;
#[path = "../../../tests/bad_data/campaign.rs"]
mod campaign;
mod journals;
mod libraries;
#[path = "../../../tests/bad_data/memory.rs"]
mod memory;
#[path = "../../../tests/bad_data/mutate.rs"]
mod mutate;
mod program;
mod robots;
mod studies;
mod tables;

#[global_allocator]
static ALLOCATOR: memory::Counting = memory::Counting;
