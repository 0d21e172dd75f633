//! `ltrace -c`: tables of library calls (with `-S`, of syscalls too, as `SYS_read`). Their time is wall time.
//!
//! ```text
//! % time     seconds  usecs/call     calls      function
//! ------ ----------- ----------- --------- --------------------
//!  28.58    0.113867      113867         1 setlocale
//! ------ ----------- ----------- --------- --------------------
//! 100.00    0.345935                   133 total
//! ```

use crate::formats::strace_count::{read_tables, sniff_table};
use crate::formats::{Format, SniffInput};
use crate::source::Source;
use std::io;
use whyslow_model::{CaptureKind, Sink};

/// The format.
pub(crate) static LTRACE_COUNT: Format =
    Format { kind: CaptureKind::LtraceCount, name: "ltrace -c", made_by: "ltrace -c -f -p PID", sniff, read };

fn sniff(sample: &SniffInput<'_>) -> bool {
    sniff_table(sample, true)
}

fn read(source: &mut Source, sink: &mut dyn Sink) -> io::Result<()> {
    // ltrace prints no line above its table; its `+++ exited` line stands before it.
    read_tables(source, sink, b"ltrace: ", b"+++ exited (status ")
}
