//! `call>1s`: a call takes that long, and does not wait for work.

use super::{Trigger, TriggerKind};
use std::time::Duration;
use whyslow_model::typed;
use whyslow_record::{Sight, SightsWanted};

pub(crate) static KIND: TriggerKind = TriggerKind {
    name: "call",
    forms: &["call>1s"],
    about: "A call takes that long that is not one by which threads wait for work or for a time: accept, poll, sleeps, futexes, reads of pipes and of connections on which nothing was asked do not count.",
    make: |text| {
        let from = typed::time(text.strip_prefix('>').ok_or("a time is missing")?)?;
        Ok(Box::new(LongCall { from }))
    },
};

struct LongCall {
    from: Duration,
}

impl Trigger for LongCall {
    fn watch(&self, watched: &mut SightsWanted) {
        watched.calls_from = Some(watched.calls_from.map_or(self.from, |known| known.min(self.from)));
    }

    fn see(&mut self, sight: &Sight<'_>) -> Option<String> {
        let Sight::Call(of) = sight else { return None };
        let is_long = of.took.get().is_some_and(|ns| u128::from(ns) >= self.from.as_nanos());
        (is_long && !of.is_idle)
            .then(|| format!("a call of {} in thread {} took {}", of.name, of.tid, of.took))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_model::{Nanos, Timestamp};
    use whyslow_record::SeenCall;

    #[test]
    fn only_long_ones_that_are_no_wait_for_work() {
        let (_, mut trigger) = crate::trigger("call>1s").map_err(|why| why.to_string()).expect("made");
        let seen = |ms: u64, is_idle| {
            let took = Nanos::new(ms * 1_000_000);
            Sight::Call(SeenCall { at: Timestamp::new(1), tid: 7, name: "fsync", took, error: None, is_idle })
        };
        assert_eq!(trigger.see(&seen(999, false)), None);
        assert_eq!(trigger.see(&seen(4_000, true)), None);
        let fired = trigger.see(&seen(1_000, false));
        assert_eq!(fired.as_deref(), Some("a call of fsync in thread 7 took 1.00 s"));
        let mut watched =
            SightsWanted { calls_from: Some(Duration::from_secs(3)), ..SightsWanted::default() };
        trigger.watch(&mut watched);
        assert_eq!(watched.calls_from, Some(Duration::from_secs(1)));
    }
}
