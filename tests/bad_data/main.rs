//! Bad data: specs, compiled models and saved states that are cut short, damaged, foreign or hostile are refused with a reason, or
//! still say something that works. Nothing panics, hangs, or takes memory on a stranger's word.

#![allow(unsafe_code)] // A counting allocator is an unsafe trait.

mod campaign;
#[path = "../example_files/mod.rs"]
mod example_files;
mod examples;
mod memory;
mod models;
mod mutate;
mod reserve;
mod specs;
mod states;
mod works;

#[global_allocator]
static ALLOCATOR: memory::Counting = memory::Counting;
