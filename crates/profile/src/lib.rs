//! Profiles: stacks with values ([`whyslow_model::Profile`]), read from whatever people have, shown as pprof shows them, told
//! apart by kind of cost, and compared.

pub mod compare;
pub mod formats;
pub mod graph;
pub mod kinds;
pub mod names;
pub mod protobuf;
mod sampled;
pub mod select;
pub mod units;
pub mod views;

pub use sampled::Sampled;
pub use select::{SelectError, StackSelection};
pub use views::{PROFILE_VIEWS, PreparedProfile, ProfileView, ViewError};
