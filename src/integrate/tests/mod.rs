//! Tests of the integrators, one file per subject.

mod accuracy;
mod auto;
mod convergence;
mod events;
mod failures;
mod implicit;
mod invariants;
mod landing;
mod linear;
mod order_conditions;
mod problems;
mod restart;
mod roots;
mod rosenbrock;
mod settings;
mod simplifying;
mod stiff;

test_modules![
    accuracy,
    auto,
    convergence,
    events,
    failures,
    implicit,
    invariants,
    landing,
    linear,
    order_conditions,
    restart,
    roots,
    rosenbrock,
    settings,
    simplifying,
    stiff
];
