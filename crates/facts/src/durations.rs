//! Which calls are cheap and which are slow.

use whyslow_model::Nanos;

/// A call this short costs nothing without a tracer (guard 6): about what a `stat` of a cached path takes.
pub const CHEAP_CALL: Nanos = Nanos::new(2_000);

/// A call from which on a fold that asks for slow calls sees it: shorter ones explain nothing by themselves.
pub(crate) const SLOW_CALL: Nanos = Nanos::from_millis(1);
