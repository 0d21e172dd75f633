//! ltrace's line log: `puts("x") = 5 <0.01>`, `SYS_write(1, …)`, `libc.so.6->strlen("x")`; strace's line shapes with
//! other names and results.

use super::Format;
use super::strace::{Dialect, Look, read_alone};
use whyslow_model::CaptureKind;

/// ltrace's line log.
pub(crate) static LTRACE: Format = Format {
    kind: CaptureKind::Ltrace,
    name: "ltrace",
    made_by: "ltrace -f -S -ttt -T -s 256 -o FILE -p PID",
    sniff: |sample| Look::at(sample, Dialect::Ltrace).is_ltrace(),
    read: |source, sink| read_alone(source, Dialect::Ltrace, sink),
};
