//! The flight recorder: a recording that goes on for days keeps its last seconds in memory, and writes them out when something
//! happens. [`Flight`] is fed by a session's ticks; [`TRIGGERS`] say what happens; what is kept is a recording as any other. Who may ask for a
//! window may also have a recording in detail made, by a process of its own ([`DetailFolder`]).

pub mod ask;
mod cool;
mod detail;
mod error;
mod fired;
mod flight;
mod keep;
mod pending;
mod triggers;

pub use detail::DetailFolder;
pub use error::FlightError;
pub use fired::Fired;
pub use flight::{Flight, FlightOptions};
pub use keep::{FlightNews, KeptWindow, Shelf};
pub use pending::{finish, finish_all};
pub use triggers::{TRIGGERS, Trigger, TriggerKind, trigger};
