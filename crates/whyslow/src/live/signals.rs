//! Signals while recording: Ctrl-C ends the recording in an orderly way; a recorded command gets the others.

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::origin::{Origin, WithOrigin};
use signal_hook::low_level::siginfo::{Cause, Sent};

/// What arrives from now on.
pub(super) struct Arrivals {
    signals: SignalsInfo<WithOrigin>,
    /// SIGUSR1 came while no command of ours ran.
    asked: bool,
}

/// What a signal means for the recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Arrival {
    /// End and explain.
    End,
    /// Pass on to the command, which then decides.
    PassOn(i32),
}

impl Arrivals {
    pub(super) fn listen() -> std::io::Result<Arrivals> {
        let signals = SignalsInfo::new([SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2])?;
        Ok(Arrivals { signals, asked: false })
    }

    /// What came since the last look. `command`: one of ours is running.
    pub(super) fn take(&mut self, command: bool) -> Vec<Arrival> {
        let Arrivals { signals, asked } = self;
        let told = signals.pending().inspect(|origin| *asked |= !command && origin.signal == SIGUSR1);
        told.filter_map(|origin| arrival(&origin, command)).collect()
    }

    /// Whether SIGUSR1 came for us since this was asked last.
    #[cfg(feature = "bpf")]
    pub(super) fn asked(&mut self) -> bool {
        std::mem::take(&mut self.asked)
    }
}

fn arrival(origin: &Origin, command: bool) -> Option<Arrival> {
    if !command {
        return (!matches!(origin.signal, SIGUSR1 | SIGUSR2)).then_some(Arrival::End);
    }
    // The terminal sends to the whole foreground group: the command has it already.
    let from_terminal =
        matches!(origin.signal, SIGINT | SIGQUIT) && !matches!(origin.cause, Cause::Sent(Sent::User));
    (!from_terminal).then_some(Arrival::PassOn(origin.signal))
}
