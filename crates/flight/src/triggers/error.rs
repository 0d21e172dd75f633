//! `error`: a request failed.

use super::request::words;
use super::{Trigger, TriggerKind};
use whyslow_record::{Sight, SightsWanted};

pub(crate) static KIND: TriggerKind = TriggerKind {
    name: "error",
    forms: &["error"],
    about: "A request that the target serves or makes failed: by its status (of HTTP from 500 on), or its connection was gone before its answer.",
    make: |text| match text {
        "" => Ok(Box::new(FailedRequest)),
        _ => Err("nothing may follow".to_string()),
    },
};

struct FailedRequest;

impl Trigger for FailedRequest {
    fn watch(&self, watched: &mut SightsWanted) {
        watched.requests = true;
    }

    fn see(&mut self, sight: &Sight<'_>) -> Option<String> {
        let Sight::Request(of) = sight else { return None };
        if !of.failed {
            return None;
        }
        Some(match of.status {
            Some(status) => format!("{} failed with {status} after {}", words(of), of.took),
            None => format!("{} got no answer: its connection was gone after {}", words(of), of.took),
        })
    }
}
