//! What the agent gives its outlets: what it says of itself, and that a window was told. Their crate does the rest.

use crate::settings::AgentSettings;
use crate::status::AgentStatus;
use std::time::Duration;
use whyslow_outlets::{AgentFigures, Outlets};

/// What waits may take so long at the end.
const ENDING: Duration = Duration::from_secs(5);

/// The outlets of the settings.
pub(crate) struct Outward(Outlets);

impl Outward {
    pub(crate) fn start(settings: &AgentSettings) -> Outward {
        Outward(Outlets::start(&settings.state, &settings.outlets(), AgentFigures::default()))
    }

    /// Those of other settings, in their place.
    pub(crate) fn restart(&mut self, settings: &AgentSettings) {
        // An address is free before it is listened on again.
        self.0.finish(ENDING);
        *self = Outward::start(settings);
    }

    /// Tells them how the agent fares, and that a window may be there; gives what is to be said.
    pub(crate) fn tell(&self, status: &AgentStatus) -> Vec<String> {
        self.0.see(figures(status));
        self.0.look();
        self.0.notes()
    }

    pub(crate) fn finish(&mut self) {
        self.0.finish(ENDING);
    }
}

fn figures(status: &AgentStatus) -> AgentFigures {
    AgentFigures {
        since: status.since,
        cpu_share: status.cpu_share,
        memory: status.memory,
        windows: status.windows,
        windows_lost: status.windows_lost,
        events_lost: status.lost,
        processes: status.processes as u64,
        shed_level: status.detail as u64,
        parts_waiting: status.last.waiting.0,
        parts_removed: status.parts_removed,
    }
}
