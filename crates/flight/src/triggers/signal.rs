//! `signal=SIGSEGV`: the target gets a signal, or dies by it.

use super::{Trigger, TriggerKind};
use whyslow_record::{SeenEnd, Sight};

pub(crate) static KIND: TriggerKind = TriggerKind {
    name: "signal",
    forms: &["signal=SIGSEGV|SIGABRT"],
    about: "A thread of the target gets one of these signals, or a process of it dies by one (SIGKILL is seen by the death alone).",
    make: |text| {
        let names =
            text.strip_prefix('=').filter(|names| !names.is_empty()).ok_or("names of signals are missing")?;
        let names: Vec<String> = names.split('|').map(|name| name.to_ascii_uppercase()).collect();
        match names.iter().find(|name| !name.starts_with("SIG")) {
            Some(wrong) => Err(format!("{wrong:?} is the name of no signal, as SIGSEGV is")),
            None => Ok(Box::new(GotSignal { names })),
        }
    },
};

struct GotSignal {
    names: Vec<String>,
}

impl Trigger for GotSignal {
    fn see(&mut self, sight: &Sight<'_>) -> Option<String> {
        match sight {
            Sight::Signal { tid, name, .. } if self.names.contains(name) => {
                Some(format!("thread {tid} got {name}"))
            }
            Sight::End { pid, name, end: SeenEnd::Signal(signal), .. } if self.names.contains(signal) => {
                Some(format!("process {pid} ({name}) died of {signal}"))
            }
            _ => None,
        }
    }
}
