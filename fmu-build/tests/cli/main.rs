//! The program as its users run it: what it makes, what it says, and how it ends.

mod assemble;
mod campaign;
mod check;
mod completions;
mod desk;
mod import;
mod library;
mod linearize;
mod outside;
mod packing;
mod pe;
mod printing;
mod runs;
mod table;
mod verbs;
