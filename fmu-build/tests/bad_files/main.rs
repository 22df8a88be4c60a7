//! Bad files: input that is truncated, damaged, foreign or hostile is refused with a reason, or
//! processed if it is still valid. Archives are read by functions of the library, all other files
//! by the program itself. Bad specs are tested in `tests/bad_data`.

#![allow(unsafe_code)] // A counting allocator is an unsafe trait.

mod archives;
#[path = "../../../tests/bad_data/campaign.rs"]
mod campaign;
mod journals;
mod libraries;
#[path = "../../../tests/bad_data/memory.rs"]
mod memory;
#[path = "../../../tests/messages/mod.rs"]
mod messages;
#[path = "../../../tests/bad_data/mutate.rs"]
mod mutate;
mod program;
mod robots;
mod studies;
mod tables;

#[global_allocator]
static ALLOCATOR: memory::Counting = memory::Counting;
