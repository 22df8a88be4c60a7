//! After construction the integrators allocate nothing, whichever way they go.

#![allow(unsafe_code)] // A counting allocator is an unsafe trait.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use grapple::integrate::root::find_change;
use grapple::integrate::{IntegrateError, Memory, Method, Ode, Settings, Stepper};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call is handed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise is handed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A ring of oscillators that has no derivative for a while.
struct Ring;

impl Ode for Ring {
    type Error = &'static str;
    fn derivative(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), Self::Error> {
        let (q, v) = x.split_at(x.len() / 2);
        for i in 0..q.len() {
            dx[i] = v[i];
            dx[q.len() + i] = -q[i] + 0.1 * t.sin() * q[(i + 1) % q.len()];
        }
        if 100.0 < t && t < 101.0 {
            Err("out of order")
        } else {
            Ok(())
        }
    }
}

#[test]
fn nothing_is_allocated_after_construction() {
    for method in [Method::Dopri5, Method::Dop853, Method::Rk4 { step: 0.01 }] {
        let settings = Settings::new(method, 1e-6, &[1.0; 20]).unwrap();
        let mut stepper = Stepper::new(settings.with_max_evaluations(500));
        let mut rest = [0.0; 20];
        rest[..10].fill(0.9);
        let (mut t, mut x, mut memory) = (0.0, rest, Memory::default());
        let mut inside = [0.0; 20];
        let (mut events, mut limits, mut failures) = (0, 0, 0);
        let before = ALLOCATIONS.with(Cell::get);
        while t < 300.0 {
            let start = x[1];
            match stepper.step(&mut Ring, t, 300.0, &mut x, &mut memory) {
                Ok(step) => {
                    if (start > 0.0) != (x[1] > 0.0) {
                        let dense = stepper.dense(&mut Ring).unwrap();
                        let found = find_change(t, start, step.t, x[1], 0.0, |t| {
                            dense.interpolate(t, &mut inside);
                            Ok::<f64, ()>(inside[1])
                        });
                        events += u32::from(found.is_ok());
                    }
                    t = step.t;
                }
                Err(IntegrateError::WorkLimit { .. }) => {
                    limits += 1;
                    stepper.begin_call();
                }
                Err(_) => {
                    failures += 1;
                    (t, x) = (101.0, rest);
                    stepper.invalidate();
                }
            }
        }
        let allocations = ALLOCATIONS.with(Cell::get) - before;
        println!(
            "{}: {events} events, {limits} limits, {failures} failures",
            method.name()
        );
        assert_eq!(allocations, 0, "{}", method.name());
        assert!(events > 10 && limits > 0 && failures > 0);
    }
}
