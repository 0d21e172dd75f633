//! `made>200ms`: a request that the target makes of another takes longer.

use super::TriggerKind;
use super::request::SlowRequest;
use whyslow_record::SeenSide;

pub(crate) static KIND: TriggerKind = TriggerKind {
    name: "made",
    forms: &["made>200ms", "made>p99*3"],
    about: "A request that the target makes of another takes longer than that.",
    make: |text| Ok(Box::new(SlowRequest::of(SeenSide::Client, text)?)),
};
