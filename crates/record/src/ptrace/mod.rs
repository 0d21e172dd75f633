//! Recording without BPF: the program is stopped at each call, and asked what it does.
//!
//! It needs no rights beyond those over the program itself, and works on any Linux since 5.3. Its price is high: two stops
//! a call ([`calibrate`] measures them), and a clock that sees the stops too: a duration holds one way from the kernel to
//! the recorder. A program that waits in `epoll_wait` or a few other calls when it is taken or let go sees them end with
//! `EINTR` (ptrace(2), "Bugs").

mod attach;
mod calibrate;
mod error;
mod event;
mod filter;
pub(crate) mod launch;
pub(crate) mod memory;
mod recorder;
mod signals;
mod stops;
mod sys;
mod ticker;
mod translate;

pub use calibrate::{Calibration, calibrate};
pub use error::PtraceError;
pub use event::{RawEvent, RawSignal, RecordingEnd, Summary, ThreadEnd, TraceOrigin};
pub use recorder::{DETACH_LIMIT, PtraceOptions, Recorder};
pub use signals::signal_name;
pub use translate::Translator;
