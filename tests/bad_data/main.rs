//! Bad data: specs, compiled models and saved states that are truncated, damaged, foreign or
//! hostile are refused with a reason, or are still valid. No case panics, hangs, or allocates
//! memory by an unchecked size.

#![allow(unsafe_code)] // A counting allocator is an unsafe trait.

mod campaign;
#[path = "../example_files/mod.rs"]
mod example_files;
mod examples;
mod memory;
#[path = "../messages/mod.rs"]
mod messages;
mod models;
mod mutate;
mod reserve;
mod specs;
mod states;
mod works;

#[global_allocator]
static ALLOCATOR: memory::Counting = memory::Counting;
