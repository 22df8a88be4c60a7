//! Tests of the room, one file per claim.

mod accuracy;
mod convergence;
mod events;
mod failures;
mod landing;
mod order_conditions;
mod problems;
mod restart;
mod roots;
mod settings;
