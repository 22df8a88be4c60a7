//! Many instances, side by side and one after the other.

use super::fmu;
use crate::driver::process::{alone, in_use};
use crate::driver::*;

#[test]
fn instances_on_threads_give_the_same_bits_as_alone() {
    let fmu = fmu();
    let run = || {
        let cs = fmu.instance(CS);
        cs.initialise(Some(1e-8));
        for i in 0..50 {
            ok(cs.set("elbow.tau", (f64::from(i) * 0.1).sin()));
            ok(cs.step(f64::from(i) * 0.02, 0.02));
        }
        cs.bits()
    };
    let alone = run();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(run)).collect();
        for thread in threads {
            assert_eq!(thread.join().expect("no thread fails"), alone);
        }
    });
}

#[test]
fn many_lives_in_one_process_keep_no_file_open() {
    alone("contract::lives::many_lives_in_one_process_keep_no_file_open", || {
        let fmu = fmu();
        let reset = fmu.instance(CS);
        let first = fmu.instance(ME);
        let (_, files) = in_use();
        for _ in 0..200 {
            let me = fmu.instance(ME);
            me.initialise(Some(1e-6));
        }
        for _ in 0..2000 {
            reset.initialise(Some(1e-6));
            ok(reset.step(0.0, 1e-3));
            ok(reset.reset());
        }
        let (_, files_after) = in_use();
        assert_eq!(files_after, files);
        drop(first);
    });
}
