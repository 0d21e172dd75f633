//! Events to facts: folds over the event stream, computed once, in one pass, with bounded memory, for all rules and views.
//!
//! [`Facts`] takes the events. [`World`] knows who is who (threads, processes, descriptors, files); each fold in
//! [`folds`] is one file that declares the syscalls it wants and sees each of them with its world ([`Seen`]). What only
//! recordings, samples of the host or profiles bring has a file each beside them.
//!
//! Imports go one way: [`args`] (values out of arguments) <- [`world`] <- [`folds`] <- [`Facts`] <- questions about all
//! facts together ([`who`], `ask`).

mod all;
pub mod args;
mod ask;
pub mod block_io;
pub mod call_table;
pub mod capture;
pub mod core_dumps;
pub mod demand;
mod durations;
pub mod exemplar;
pub mod folds;
pub mod host;
mod host_evidence;
pub mod io;
pub mod kept;
mod local_peers;
pub mod meanwhile;
mod moments;
pub mod names;
pub mod net;
pub mod pace;
pub mod parked;
mod parking;
pub mod pattern;
pub mod pauses;
mod profiled;
pub mod profiles;
pub mod quotas;
#[cfg(test)]
mod recorded_tests;
pub mod recording;
pub mod samples;
pub mod sched;
pub mod services;
pub mod streams;
pub mod who;
pub mod window;
mod worked_on;
pub mod world;

pub use all::{Facts, FollowedFacts, SetApart};
pub use args::WaitKind;
pub use ask::LOST_SHARE;
pub use block_io::Devices;
pub use capture::CaptureFacts;
pub use durations::CHEAP_CALL;
pub(crate) use durations::SLOW_CALL;
pub use exemplar::Exemplar;
pub use folds::activity::Activity;
pub use folds::again::AgainSpins;
pub use folds::busy::Busy;
pub use folds::closes::CloseLoops;
pub use folds::copies::CopyLoops;
pub use folds::dns_names::DnsNames;
pub use folds::duplicates::Duplicates;
pub use folds::errors::Errors;
pub use folds::exchanges::ExchangeFacts;
pub use folds::file_locks::FileLocks;
pub(crate) use folds::fold::{Fold, When};
pub use folds::gil::SteppedLocks;
pub use folds::graph::Graph;
pub use folds::herds::Herds;
pub use folds::hidden::Hidden;
pub use folds::limits::LimitRefusals;
pub use folds::locks::Locks;
pub use folds::log_levels::LogLevels;
pub use folds::loops::Loops;
pub use folds::memory::Memory;
pub use folds::peers::{PeerFacts, Peers};
pub use folds::readiness::Readiness;
pub use folds::requests::{EndpointFacts, EndpointId, RequestRecord, Requests};
pub use folds::searches::Searches;
pub use folds::sleeps::Sleeps;
pub use folds::slow_files::SlowFiles;
pub use folds::spawns::{Forks, Spawns};
pub use folds::strangers::Strangers;
pub use folds::waits::LongestWaits;
pub use folds::work::Work;
pub use host::Host;
pub use io::IoStats;
pub use meanwhile::RanMeanwhile;
pub use net::Net;
pub use pace::Pace;
pub use parked::ParkedFacts;
pub use parking::Parking;
pub use profiles::{EmptyProfile, ProfileFacts, ProfileOrigin, Profiles};
pub use quotas::Quotas;
pub use recording::RecordingFacts;
pub use samples::Samples;
pub use sched::{Sched, SchedTime};
pub use streams::{Place, Stream};
/// Numbers in sentences, under the name that sentences use.
pub(crate) use whyslow_model::figures as words;
pub use window::Window;
pub use worked_on::WorkedOn;
pub use world::fds::{FdLife, Origin};
pub use world::file_users::{FileUse, Tally, User, Users, WrittenBack};
pub use world::files::FileFacts;
pub use world::ids::{FileId, LifeId, ProcessId, ThreadId};
pub use world::rounds::Rounds;
pub use world::runners::Runners;
pub use world::threads::{ProcessFacts, ThreadFacts};
pub use world::{Seen, SignalFacts, World};
