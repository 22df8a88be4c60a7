//! The FMU through its exported C functions: the contract of FMI 2.0.4 call by call, and hosts as they really call.

mod contract;
mod driver;
mod hosts;
