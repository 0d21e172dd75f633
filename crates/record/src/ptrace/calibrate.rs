//! What a stop costs on this machine, measured on a program of our own.

use super::error::PtraceError;
use super::event::{RawEvent, ThreadEnd};
use super::launch::{Held, time_calls};
use super::recorder::{PtraceOptions, Recorder};

/// What a call costs bare and recorded, ns a call (`getppid`, which does nothing by itself).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Calibration {
    /// Without a recorder.
    pub bare: f64,
    /// Recorded by ptrace.
    pub recorded: f64,
}

impl Calibration {
    /// What recording adds to a call, ns.
    pub fn added(&self) -> f64 {
        self.recorded - self.bare
    }
}

/// Calls made bare; far more than recorded ones, as they are quick.
const BARE_CALLS: u32 = 20_000;

/// Measures by recording `calls` calls (a thousand take some hundredths of a second). It also proves that ptrace works
/// here at all.
pub fn calibrate(calls: u32) -> Result<Calibration, PtraceError> {
    let calls = calls.max(1);
    let options =
        PtraceOptions { follow: false, syscalls: None, filter_in_kernel: false, payload: 0, spec: |_| None };
    let (mut reader, writer) = std::io::pipe().map_err(PtraceError::system("pipe"))?;
    let bare = time_calls(BARE_CALLS);
    let child = || {
        let took = time_calls(calls).to_ne_bytes();
        // A pipe takes eight bytes at once.
        std::io::Write::write_all(&mut &writer, &took)
            .map_err(|error| error.raw_os_error().unwrap_or(libc::EIO))?;
        Ok(0)
    };
    let held = Held::fork(child).map_err(PtraceError::system("fork"))?;
    let mut recorder = Recorder::take(held, "calibration".into(), options, false)?;
    let summary = recorder.run(&mut || false, &mut |_: RawEvent<'_>| {})?;
    drop(writer);
    let mut took = [0; 8];
    std::io::Read::read_exact(&mut reader, &mut took).map_err(PtraceError::system("the calibration"))?;
    debug_assert_eq!(summary.command, Some(ThreadEnd::Exit(0)));
    Ok(Calibration {
        bare: bare as f64 / f64::from(BARE_CALLS),
        recorded: u64::from_ne_bytes(took) as f64 / f64::from(calls),
    })
}
