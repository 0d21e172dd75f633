//! `request>200ms`: a request that the target serves takes longer, or longer than usual: `request>p99*3`.

use super::usual::Usual;
use super::{Trigger, TriggerKind};
use std::time::Duration;
use whyslow_model::{Nanos, typed};
use whyslow_record::{SeenRequest, SeenSide, Sight, SightsWanted};

pub(crate) static KIND: TriggerKind = TriggerKind {
    name: "request",
    forms: &["request>200ms", "request>p99*3"],
    about: "A request that the target serves takes longer than that, or longer than so many times the 99th percentile of its endpoint in the last minutes. One that is still open after that time and two seconds more fires before it ends.",
    make: |text| Ok(Box::new(SlowRequest::of(SeenSide::Server, text)?)),
};

/// How long a request may be open past its bound before it is told: until then, what it says as it ends is worth waiting for.
const OPEN_FOR: Duration = Duration::from_secs(2);

/// From when on a request is slow.
enum Bound {
    Fixed(Duration),
    /// So many times what is usual.
    Times(f64, Usual),
}

/// Waits for a slow request.
pub(crate) struct SlowRequest {
    side: SeenSide,
    bound: Bound,
}

impl SlowRequest {
    /// `text`: what is typed behind the name.
    pub(crate) fn of(side: SeenSide, text: &str) -> Result<SlowRequest, String> {
        let bound = text.strip_prefix('>').ok_or("a time is missing")?;
        let bound = match bound.strip_prefix("p99*") {
            Some(times) => {
                let times: f64 = times.parse().map_err(|_| format!("{times:?} is no number"))?;
                if !(1.0..=1e6).contains(&times) {
                    return Err("expected a number from 1 on".to_string());
                }
                Bound::Times(times, Usual::default())
            }
            None => Bound::Fixed(typed::time(bound)?),
        };
        Ok(SlowRequest { side, bound })
    }
}

/// `request GET /x of process 7`, with how it went.
pub(crate) fn words(of: &SeenRequest<'_>) -> String {
    let whose = match of.side {
        SeenSide::Server => "request",
        SeenSide::Client => "its request",
    };
    let endpoint = if of.endpoint.is_empty() { of.protocol } else { of.endpoint };
    format!("{whose} {endpoint} of process {}", of.pid)
}

impl Trigger for SlowRequest {
    fn watch(&self, watched: &mut SightsWanted) {
        watched.requests = true;
    }

    fn see(&mut self, sight: &Sight<'_>) -> Option<String> {
        let Sight::Request(of) = sight else { return None };
        if of.side != self.side {
            return None;
        }
        let took = Duration::from_nanos(of.took.get()?);
        let (bound, usual) = match &mut self.bound {
            Bound::Fixed(bound) => (*bound, None),
            Bound::Times(times, usual) => {
                let p99 = usual.of(of.endpoint);
                if !of.open {
                    usual.add(of.endpoint, took, of.at);
                }
                let p99 = p99?;
                (p99.mul_f64(*times), Some(p99))
            }
        };
        if took < bound {
            return None;
        }
        let took = if of.open { format!("is open for {}", of.took) } else { format!("took {}", of.took) };
        let usual =
            usual.map(|p99| format!(", and 99 % of its kind at most {}", Nanos::new(p99.as_nanos() as u64)));
        Some(format!("{} {took}{}", words(of), usual.unwrap_or_default()))
    }

    fn open_for(&self) -> Option<Duration> {
        match &self.bound {
            Bound::Fixed(bound) => Some(*bound + OPEN_FOR),
            // Its bound is not the same for each endpoint.
            Bound::Times(..) => Some(Duration::from_secs(10)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_model::Timestamp;

    fn seen(side: SeenSide, ms: u64, open: bool) -> Sight<'static> {
        Sight::Request(SeenRequest {
            at: Timestamp::new(5),
            took: Nanos::new(ms * 1_000_000),
            pid: 7,
            side,
            protocol: "HTTP/1.1",
            endpoint: "GET /x",
            status: None,
            failed: false,
            open,
        })
    }

    #[test]
    fn a_fixed_bound() {
        let mut trigger = SlowRequest::of(SeenSide::Server, ">200ms").expect("made");
        assert_eq!(trigger.see(&seen(SeenSide::Server, 199, false)), None);
        assert_eq!(trigger.see(&seen(SeenSide::Client, 900, false)), None);
        let fired = trigger.see(&seen(SeenSide::Server, 812, false));
        assert_eq!(fired.as_deref(), Some("request GET /x of process 7 took 812 ms"));
        let fired = trigger.see(&seen(SeenSide::Server, 2300, true));
        assert_eq!(fired.as_deref(), Some("request GET /x of process 7 is open for 2.30 s"));
        assert_eq!(trigger.open_for(), Some(Duration::from_millis(2200)));
    }

    #[test]
    fn what_is_usual_is_learned_first() {
        let mut trigger = SlowRequest::of(SeenSide::Server, ">p99*3").expect("made");
        assert_eq!(trigger.see(&seen(SeenSide::Server, 5_000, false)), None, "nothing is usual yet");
        for _ in 0..400 {
            assert_eq!(trigger.see(&seen(SeenSide::Server, 10, false)), None);
        }
        assert_eq!(trigger.see(&seen(SeenSide::Server, 25, false)), None);
        let fired = trigger.see(&seen(SeenSide::Server, 60, false)).expect("slow");
        assert!(fired.contains("took 60.0 ms, and 99 % of its kind at most 1"), "{fired}");
        for wrong in [">p99*0", ">p99*x", ">p99*", ">p99*nan"] {
            assert!(SlowRequest::of(SeenSide::Server, wrong).is_err(), "{wrong}");
        }
    }
}
