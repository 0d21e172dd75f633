//! Questions about many hosts on several machines.
//!
//! Ballista cuts a plan of DataFusion into tasks and gives them to executors. [`run_scheduler`] and [`run_executor`] are the two kinds of
//! process; [`Cluster::connect`] gives an engine to `Fleet::open_on`, which plans here, as it does where all is in one process, and has the
//! plan answered there. Plans name parts of the fleet by their addresses, so that only executors read them, and only below their own root.
//! A question survives the loss of executors and of the scheduler: tasks are done again, and what a new scheduler does not know is
//! submitted again under the same name. A question that is given up is cancelled. Without keys all of it stays on one machine.

mod address;
mod asker;
mod engine;
mod error;
mod executor;
mod jobs;
mod keys;
mod scheduler;
mod service;
mod session;
mod telling;

pub use address::ClusterAddress;
pub use asker::{Cluster, ClusterOptions};
pub use error::ClusterError;
pub use executor::{ClusterExecutorOptions, run_executor};
pub use keys::{ClusterKeys, ClusterRole};
pub use scheduler::{ClusterSchedulerOptions, run_scheduler};
pub use telling::tell_problems;
