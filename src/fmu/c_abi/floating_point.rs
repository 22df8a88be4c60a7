//! The floating-point environment during a call.
//!
//! Rust assumes the default environment: rounding to nearest, denormal numbers kept, all exceptions
//! masked. The compiler relies on it, e.g. it may evaluate a division by zero whose result a
//! condition discards. An importer may use another environment, with traps (`feenableexcept`),
//! flushed denormals (`-ffast-math`) or another rounding. Every call therefore computes in the
//! default environment and then restores the importer's. Callbacks are called in the importer's
//! environment.

use std::cell::Cell;

/// Runs `f` in the default environment and restores the importer's at the end, also if `f` panics.
pub(super) fn in_default<T>(f: impl FnOnce() -> T) -> T {
    let _restored = Importers::replaced();
    f()
}

/// Runs `f`, a function of the importer, in the importer's environment, from inside
/// [`in_default`].
pub(super) fn in_importers<T>(f: impl FnOnce() -> T) -> T {
    let Some(importers) = REPLACED.get() else {
        return f();
    };
    control::write(importers);
    let result = f();
    control::write(control::DEFAULT);
    result
}

thread_local! {
    /// Control register of the importer, if the call in progress on this thread has replaced it.
    static REPLACED: Cell<Option<control::Register>> = const { Cell::new(None) };
}

/// Control register of the importer, written back on drop if it was replaced; and [`REPLACED`] before.
struct Importers(Option<control::Register>, Option<control::Register>);

impl Importers {
    fn replaced() -> Self {
        let importers = control::read();
        // Writing the register costs more than reading it, and most importers use the default.
        #[allow(clippy::bad_bit_mask)] // WebAssembly has no settings
        let differs = (importers ^ control::DEFAULT) & control::SETTINGS != 0;
        if !differs {
            return Self(None, None);
        }
        control::write(control::DEFAULT);
        Self(Some(importers), REPLACED.replace(Some(importers)))
    }
}

impl Drop for Importers {
    fn drop(&mut self) {
        if let Some(importers) = self.0 {
            control::write(importers);
            REPLACED.set(self.1);
        }
    }
}

/// MXCSR: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, section 10.2.3.
#[cfg(any(target_arch = "x86_64", all(target_arch = "x86", target_feature = "sse")))]
mod control {
    use std::arch::asm;

    pub type Register = u32;
    /// All exceptions masked, rounding to nearest, denormals kept.
    pub const DEFAULT: Register = 0x1F80;
    /// All bits but the six flags of exceptions that have occurred.
    pub const SETTINGS: Register = 0xFFC0;

    pub fn read() -> Register {
        let mut register = 0;
        // SAFETY: writes the four bytes at the address.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut register, options(nostack, preserves_flags)) };
        register
    }

    pub fn write(register: Register) {
        // SAFETY: reads the four bytes at the address. The value is the default or was read before,
        // so no reserved bit is set. Rust code runs in the default environment only: the importer's
        // is restored when the call has been computed.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const register, options(nostack)) };
    }
}

/// FPCR: Arm Architecture Reference Manual for A-profile, section C5.2.8.
#[cfg(target_arch = "aarch64")]
mod control {
    use std::arch::asm;

    pub type Register = u64;
    /// No traps, rounding to nearest, denormals kept.
    pub const DEFAULT: Register = 0;
    pub const SETTINGS: Register = !0;

    pub fn read() -> Register {
        let register;
        // SAFETY: reads a register that every program may read.
        unsafe { asm!("mrs {}, fpcr", out(reg) register, options(nomem, nostack, preserves_flags)) };
        register
    }

    pub fn write(register: Register) {
        // SAFETY: the value is the default or was read before. Rust code runs in the default
        // environment only: the importer's is restored when the call has been computed.
        unsafe { asm!("msr fpcr, {}", in(reg) register, options(nostack)) };
    }
}

/// Other processors: the importer's environment is left unchanged.
#[cfg(not(any(
    target_arch = "x86_64",
    all(target_arch = "x86", target_feature = "sse"),
    target_arch = "aarch64"
)))]
mod control {
    pub type Register = u32;
    pub const DEFAULT: Register = 0;
    pub const SETTINGS: Register = 0;

    pub fn read() -> Register {
        DEFAULT
    }

    pub fn write(_: Register) {}
}
