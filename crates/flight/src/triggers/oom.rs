//! `oom`: the kernel killed a process for want of memory.

use super::{Trigger, TriggerKind};

pub(crate) static KIND: TriggerKind = TriggerKind {
    name: "oom",
    forms: &["oom"],
    about: "The kernel killed a process of the host, or of a control group at its limit, for want of memory (oom_kill of /proc/vmstat).",
    make: |text| match text {
        "" => Ok(Box::new(OutOfMemory { killed: None })),
        _ => Err("nothing may follow".to_string()),
    },
};

struct OutOfMemory {
    killed: Option<u64>,
}

fn killed(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix("oom_kill "))?.trim().parse().ok()
}

impl OutOfMemory {
    fn at(&mut self, killed: u64) -> Option<String> {
        let before = self.killed.replace(killed)?;
        let more = killed.checked_sub(before).filter(|more| *more > 0)?;
        let who = if more == 1 { "1 process".to_string() } else { format!("{more} processes") };
        Some(format!("the kernel killed {who} for want of memory"))
    }
}

impl Trigger for OutOfMemory {
    fn look(&mut self) -> Option<String> {
        self.at(killed(&std::fs::read_to_string("/proc/vmstat").ok()?)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_killed_since_the_last_look() {
        assert_eq!((killed("pgfault 9\noom_kill 3\n"), killed("pgfault 9")), (Some(3), None));
        let mut oom = OutOfMemory { killed: None };
        assert_eq!((oom.at(3), oom.at(3)), (None, None));
        assert_eq!(oom.at(4).as_deref(), Some("the kernel killed 1 process for want of memory"));
    }
}
