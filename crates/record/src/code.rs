//! Where the code of the watched processes is, looked at while they live: their samples are turned into functions when the
//! recording has ended, and many processes before it.

use crate::symbols::Symbolizer;
use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A program loads its libraries in its first moments: it is looked at each time so long.
const YOUNG: Duration = Duration::from_millis(500);
/// Between two looks at an older one, for libraries loaded later.
const AGAIN: Duration = Duration::from_secs(1);
/// Processes that are looked at again; of further ones what was seen first is kept.
const MAX_PROCESSES: usize = 256;

struct Seen {
    began: Instant,
    looked: Instant,
}

/// The processes, and what is known of their code.
pub(crate) struct Code {
    symbols: Symbolizer,
    processes: HashMap<u32, Seen>,
}

impl Code {
    /// With folders to look for debug files in.
    pub(crate) fn new(debug_dirs: &[PathBuf]) -> Code {
        Code { symbols: Symbolizer::with_debug_dirs(debug_dirs), processes: HashMap::new() }
    }

    /// A process is watched from now on, or runs another program.
    pub(crate) fn began(&mut self, pid: u32) {
        let now = Instant::now();
        if self.symbols.remember(pid) && self.processes.len() < MAX_PROCESSES {
            self.processes.insert(pid, Seen { began: now, looked: now });
        }
    }

    /// Looks at those whose turn it is. To be called often.
    pub(crate) fn look(&mut self) {
        let (symbols, now) = (&mut self.symbols, Instant::now());
        self.processes.retain(|pid, seen| {
            if now - seen.began > YOUNG && now - seen.looked < AGAIN {
                return true;
            }
            seen.looked = now;
            symbols.remember(*pid)
        });
    }

    /// Looks at all that live a last time, and hands over what is known.
    pub(crate) fn take(&mut self) -> Symbolizer {
        for pid in self.processes.keys() {
            self.symbols.remember(*pid);
        }
        self.processes.clear();
        std::mem::take(&mut self.symbols)
    }
}
