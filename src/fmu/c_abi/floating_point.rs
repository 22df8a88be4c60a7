//! The floating-point environment during a call.
//!
//! Rust computes in the default environment: rounding to nearest, denormal numbers kept, no exception raises a signal. The
//! compiler relies on it: a division by zero whose result a condition discards is a legal translation. An importer may have
//! another one, with traps (`feenableexcept`), flushed denormals (`-ffast-math`) or another rounding. So every call computes
//! in the default environment and then restores the importer's. The logger is called in the importer's.

/// Runs `f` in the default environment, and restores that of the importer at the end, also if `f` panics.
pub(super) fn in_default<T>(f: impl FnOnce() -> T) -> T {
    let _restored = Importers::replaced();
    f()
}

/// The control register of the importer, written back when this is dropped if it was replaced.
struct Importers(Option<control::Register>);

impl Importers {
    fn replaced() -> Self {
        let importers = control::read();
        // Writing the register costs more than reading it, and most importers have the default.
        let differs = (importers ^ control::DEFAULT) & control::SETTINGS != 0;
        if differs {
            control::write(control::DEFAULT);
        }
        Self(differs.then_some(importers))
    }
}

impl Drop for Importers {
    fn drop(&mut self) {
        if let Some(importers) = self.0 {
            control::write(importers);
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
        // SAFETY: writes the four bytes that the address stands for.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut register, options(nostack, preserves_flags)) };
        register
    }

    pub fn write(register: Register) {
        // SAFETY: reads the four bytes that the address stands for; the value is the default or was read before, so no reserved
        // bit is set. It is the environment that Rust assumes, or that of the importer, in which nothing is computed.
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
        // SAFETY: the value is the default, which Rust assumes, or was read before; in the importer's nothing is computed.
        unsafe { asm!("msr fpcr, {}", in(reg) register, options(nostack)) };
    }
}

/// Other processors: the environment stays that of the importer.
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
