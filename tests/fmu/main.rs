//! The FMU through its exported C functions: the contract of FMI 2.0.4 call by call, the call
//! sequences of real importers, random calls, and the contract of FMI 3.0.2.

#[path = "../alone/mod.rs"]
mod alone;
mod campaign;
mod contract;
mod driver;
#[path = "../everything/mod.rs"]
mod everything;
#[path = "../example_files/mod.rs"]
mod example_files;
mod fmi3;
mod hosts;
#[path = "../theory/larger.rs"]
mod larger;
#[path = "../long/mod.rs"]
mod long;
#[path = "../messages/mod.rs"]
mod messages;
mod recorded;
