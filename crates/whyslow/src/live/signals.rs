//! Signals while recording: Ctrl-C ends the recording in an orderly way; a recorded command gets the others.

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::origin::{Origin, WithOrigin};
use signal_hook::low_level::siginfo::{Cause, Sent};

/// What arrives from now on.
pub(super) struct Arrivals {
    signals: SignalsInfo<WithOrigin>,
}

/// What a signal means for the recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Arrival {
    /// End and explain.
    End,
    /// Pass on to the command, which then decides.
    PassOn(i32),
    /// Keep what a ring holds (SIGUSR1), where there is one.
    Ask,
}

impl Arrivals {
    pub(super) fn listen() -> std::io::Result<Arrivals> {
        let signals = SignalsInfo::new([SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2])?;
        Ok(Arrivals { signals })
    }

    /// What came since the last look. `command`: one of ours is running.
    pub(super) fn take(&mut self, command: bool) -> Vec<Arrival> {
        self.signals.pending().filter_map(|origin| arrival(&origin, command)).collect()
    }
}

fn arrival(origin: &Origin, command: bool) -> Option<Arrival> {
    if !command {
        return match origin.signal {
            SIGUSR1 => Some(Arrival::Ask),
            SIGUSR2 => None,
            _ => Some(Arrival::End),
        };
    }
    // The terminal sends to the whole foreground group: the command has it already.
    let from_terminal =
        matches!(origin.signal, SIGINT | SIGQUIT) && !matches!(origin.cause, Cause::Sent(Sent::User));
    (!from_terminal).then_some(Arrival::PassOn(origin.signal))
}
