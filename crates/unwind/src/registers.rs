//! What unwinding goes on from: the registers of a thread, and its stack.

use crate::process::{MemoryError, Process};

/// Registers of a thread that unwinding goes on from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Registers {
    /// The next instruction; in callers the one behind the call.
    pub ip: u64,
    /// The top of the stack.
    pub sp: u64,
    /// The register of frame pointers (`rbp`), whatever it holds.
    pub bp: u64,
    /// Of the innermost frame of a thread that was sampled; callers have none.
    pub leaf: Option<LeafRegisters>,
}

/// Further registers of the innermost frame: interpreters keep in them where they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LeafRegisters {
    /// `r9`.
    pub r9: u64,
    /// `r12`.
    pub r12: u64,
    /// `r13`.
    pub r13: u64,
    /// `r14`.
    pub r14: u64,
}

/// A thread's memory as unwinding sees it: a copy of the top of its stack, where there is one, else the memory itself.
pub trait StackMemory {
    /// The word of 8 bytes at an address.
    ///
    /// # Errors
    /// Where it cannot be read.
    fn word(&self, address: u64) -> Result<u64, MemoryError>;
}

impl StackMemory for Process {
    fn word(&self, address: u64) -> Result<u64, MemoryError> {
        self.u64(address)
    }
}
