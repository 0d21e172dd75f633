//! The interpreter's own code: where in it a frame has the bytecode that it is at.

use super::describe::{Descriptions, Object, extent};
use crate::process::{MemoryError, Process};

/// The pieces of the interpreter's code (`InterpreterCodelet` of `interpreter/interpreter.hpp`).
pub(super) struct Interpreter {
    /// `AbstractInterpreter::_code`.
    queue: u64,
    buffer: u64,
    limit: u64,
    size: u64,
    description: u64,
    /// Start, end, and whether it is where called methods return to; once they were read.
    pieces: Vec<(u64, u64, bool)>,
}

impl Interpreter {
    /// Pieces that are read; JDK 17 has 280.
    const MOST: usize = 4096;

    pub(super) fn of(described: &Descriptions) -> Result<Interpreter, String> {
        Ok(Interpreter {
            queue: described.address("AbstractInterpreter::_code")?,
            buffer: described.offset(&["StubQueue::_stub_buffer"])?,
            limit: described.offset(&["StubQueue::_queue_end"])?,
            size: described.offset(&["InterpreterCodelet::_size"])?,
            description: described.offset(&["InterpreterCodelet::_description"])?,
            pieces: Vec::new(),
        })
    }

    /// True where called methods return to an address. Until the next bytecode begins, the frame has the one that called.
    ///
    /// # Errors
    /// Where memory does not tell.
    pub(super) fn returns_to(&mut self, process: &Process, ip: u64) -> Result<bool, MemoryError> {
        if self.pieces.is_empty() {
            self.pieces = self.read(process)?;
        }
        let behind = self.pieces.partition_point(|(start, ..)| *start <= ip);
        let piece = behind.checked_sub(1).and_then(|at| self.pieces.get(at));
        Ok(piece.is_some_and(|(_, end, returns)| ip < *end && *returns))
    }

    fn read(&self, process: &Process) -> Result<Vec<(u64, u64, bool)>, MemoryError> {
        let queue = Object::read(process, process.u64(self.queue)?, extent(&[self.buffer, self.limit]))?;
        let mut at = queue.u64(self.buffer);
        let end = at.saturating_add(u64::from(queue.u32(self.limit)));
        let mut pieces = Vec::new();
        while at < end && pieces.len() < Interpreter::MOST {
            let piece = Object::read(process, at, extent(&[self.size, self.description]))?;
            let size = u64::from(piece.u32(self.size));
            if size == 0 {
                break;
            }
            // `TemplateInterpreterGenerator::generate_all` of `templateInterpreterGenerator.cpp` names them.
            let name = process.c_text(piece.u64(self.description), 64).unwrap_or_default();
            let returns =
                name.contains("return entry points") || name.contains("deoptimization entry points");
            pieces.push((at, at + size, returns));
            at += size;
        }
        Ok(pieces)
    }
}
