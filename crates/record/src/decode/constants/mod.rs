//! Names of flags and constants, as strace 6.1 prints them.

mod files;
mod memory;
mod network;
mod process;
mod waits;

pub(crate) use files::*;
pub(crate) use memory::*;
pub(crate) use network::*;
pub(crate) use process::*;
pub(crate) use waits::*;

use super::put::Put;

/// The names of the values of one argument: flags in the order in which they are printed, or constants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ValueTable {
    /// What strace says of a value that has no name.
    pub unknown: &'static str,
    /// Value and name. A flag that contains others stands before them.
    pub rows: &'static [(u64, &'static str)],
}

impl ValueTable {
    /// The name of `value`.
    pub(crate) fn name(&self, value: u64) -> Option<&'static str> {
        self.rows.iter().find(|(known, _)| *known == value).map(|(_, name)| *name)
    }

    /// Prints a constant: its name, or the number with a remark.
    pub(crate) fn constant(&self, value: u64, out: &mut Vec<u8>) {
        match self.name(value) {
            Some(name) => out.put(name),
            None => {
                out.hex(value);
                self.remark(out);
            }
        }
    }

    /// Prints flags: `PROT_READ|PROT_WRITE|0x80`.
    pub(crate) fn flags(&self, flags: u64, out: &mut Vec<u8>) {
        let start = out.len();
        let rest = self.known_flags(flags, out);
        if rest == 0 {
            if out.len() == start {
                out.put("0");
            }
            return;
        }
        if out.len() > start {
            out.put("|");
            out.hex(rest);
        } else {
            out.hex(rest);
            self.remark(out);
        }
    }

    /// Prints the flags that have a name, and gives the rest.
    pub(crate) fn known_flags(&self, flags: u64, out: &mut Vec<u8>) -> u64 {
        let start = out.len();
        let mut rest = flags;
        for &(value, name) in self.rows {
            let is_set = if value == 0 { flags == 0 } else { rest & value == value };
            if is_set {
                if out.len() > start {
                    out.put("|");
                }
                out.put(name);
                rest &= !value;
                if rest == 0 {
                    break;
                }
            }
        }
        rest
    }

    fn remark(&self, out: &mut Vec<u8>) {
        out.put(" /* ");
        out.put(self.unknown);
        out.put(" */");
    }
}
