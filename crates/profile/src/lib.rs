//! Profiles: stacks with values ([`whyslow_model::Profile`]), read from whatever people have, shown as pprof shows them, told
//! apart by kind of cost, and compared.

pub mod formats;
pub mod kinds;
mod sampled;

pub use sampled::Sampled;
