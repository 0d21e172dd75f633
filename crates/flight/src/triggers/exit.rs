//! `exit!=0`: a process of the target ends with a failure.

use super::{Trigger, TriggerKind};
use whyslow_record::{SeenEnd, Sight};

pub(crate) static KIND: TriggerKind = TriggerKind {
    name: "exit",
    forms: &["exit!=0"],
    about: "A process of the target ends with another status than 0, or by a signal.",
    make: |text| match text {
        "!=0" => Ok(Box::new(FailedExit)),
        _ => Err("only a status other than 0 can be waited for".to_string()),
    },
};

struct FailedExit;

impl Trigger for FailedExit {
    fn see(&mut self, sight: &Sight<'_>) -> Option<String> {
        let Sight::End { pid, name, end, .. } = sight else { return None };
        match end {
            SeenEnd::Status(0) => None,
            SeenEnd::Status(status) => Some(format!("process {pid} ({name}) exited with status {status}")),
            SeenEnd::Signal(signal) => Some(format!("process {pid} ({name}) died of {signal}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_model::Timestamp;

    #[test]
    fn ends_and_signals() {
        let end = |end| Sight::End { at: Timestamp::new(1), pid: 7, name: "shop".into(), end };
        let all = |text: &str, sight: &Sight<'_>| {
            crate::trigger(text).ok().and_then(|(_, mut made)| made.see(sight))
        };
        assert_eq!(all("exit!=0", &end(SeenEnd::Status(0))), None);
        let died = end(SeenEnd::Signal("SIGSEGV".into()));
        assert_eq!(
            all("exit!=0", &end(SeenEnd::Status(3))).as_deref(),
            Some("process 7 (shop) exited with status 3")
        );
        assert_eq!(all("signal=SIGABRT|SIGSEGV", &died).as_deref(), Some("process 7 (shop) died of SIGSEGV"));
        assert_eq!(all("signal=SIGABRT", &died), None);
        let got = Sight::Signal { at: Timestamp::new(1), tid: 8, name: "SIGABRT".into() };
        assert_eq!(all("signal=SIGABRT", &got).as_deref(), Some("thread 8 got SIGABRT"));
    }
}
