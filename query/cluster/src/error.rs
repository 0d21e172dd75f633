//! What can go wrong with a cluster, in words that say what to do.

use std::path::PathBuf;

/// Why a cluster could not be asked, or a process of one could not go on.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// An address that is none.
    #[error("{given}: {reason}\nnext: write HOST:PORT, such as 127.0.0.1:50050 or [::1]:50050")]
    Address {
        /// As it was given.
        given: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Others could read and submit plans.
    #[error(
        "{address} is reached from other machines, and there are no keys\nnext: make some (whyslow fleet cluster-keys DIR), and name them with --keys DIR on each machine; or use 127.0.0.1"
    )]
    Unprotected {
        /// The address.
        address: String,
    },
    /// Keys that cannot be used.
    #[error("{}: {reason}\nnext: make keys with whyslow fleet cluster-keys DIR, and copy that folder (docs/FLEET.md)", whyslow_model::visible::path(.path))]
    Keys {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The address to listen on cannot be had.
    #[error("{address} cannot be listened on: {reason}\nnext: choose another one with --bind")]
    Listen {
        /// The address.
        address: String,
        /// What the system says.
        reason: String,
    },
    /// Nobody answers.
    #[error(
        "the scheduler {address} does not answer: {reason}\nnext: start one (whyslow fleet scheduler), or look at the address, the keys and the network"
    )]
    Unreachable {
        /// The scheduler.
        address: String,
        /// What the connection says.
        reason: String,
    },
    /// The cluster gave up on the question.
    #[error("the cluster gave up on it: {reason}")]
    Job {
        /// What it says.
        reason: String,
    },
    /// The question has a step that travels in no plan.
    #[error("a cluster cannot answer this: {reason}\nnext: ask without --cluster")]
    Plan {
        /// Which one.
        reason: String,
    },
    /// A folder or store that an executor needs.
    #[error("{what}: {reason}")]
    Place {
        /// Which one.
        what: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// What an error of others says, down to its cause, in one line.
pub(crate) fn told(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let more = cause.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        next = cause.source();
    }
    let line: String = text.lines().next().unwrap_or_default().chars().take(400).collect();
    line
}
