//! What is found out only by trying it: whether programs load, whether tracing works.

use crate::ptrace;

/// How a trial went.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Trial {
    /// It worked; with a remark.
    Works(String),
    /// It was refused, and why.
    Fails(String),
    /// It could not be tried, and why.
    NotTried(String),
}

/// All trials.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trials {
    /// The BPF programs that a recording needs are loaded and attached.
    pub bpf: Trial,
    /// So are the others.
    pub bpf_extras: Trial,
    /// A program for the entry of a function of the kernel is loaded.
    pub fentry: Trial,
    /// A child is recorded by ptrace.
    pub ptrace: Trial,
    /// A thread is confined as commands that read strangers' files are.
    pub reading: Trial,
}

/// Calls of the child that is recorded for a trial.
const CALLS: u32 = 300;

impl Trials {
    /// Tries all, on this machine.
    pub fn live() -> Trials {
        let [bpf, bpf_extras, fentry] = try_bpf();
        // In a thread of its own: the recorder hears of all children of its thread.
        let ptrace = std::thread::spawn(try_ptrace).join();
        let ptrace = ptrace.unwrap_or_else(|_| Trial::NotTried("the trial broke off".to_string()));
        Trials { bpf, bpf_extras, fentry, ptrace, reading: try_reading() }
    }
}

#[cfg(feature = "bpf")]
fn try_bpf() -> [Trial; 3] {
    use crate::bpf::probe;
    use crate::programs::PROGRAMS;
    let first_line = |text: String| text.lines().next().unwrap_or_default().to_string();
    let (needed, extras) = match probe::programs(PROGRAMS, &|_| true) {
        Ok(refused) if refused.is_empty() => {
            let all = PROGRAMS.len();
            (Trial::Works("they load and attach".to_string()), Trial::Works(format!("all {all} programs do")))
        }
        Ok(refused) => (Trial::Works("they load and attach".to_string()), Trial::Fails(refused.join("; "))),
        Err(error) => {
            let why = first_line(error.to_string());
            (Trial::Fails(why), Trial::NotTried("without the others they are of no use".to_string()))
        }
    };
    let fentry = match probe::fentry() {
        Ok(()) => Trial::Works("a program for the entry of vfs_read loads".to_string()),
        Err(error) => Trial::Fails(error.to_string()),
    };
    [needed, extras, fentry]
}

#[cfg(not(feature = "bpf"))]
fn try_bpf() -> [Trial; 3] {
    let without = || Trial::NotTried("this whyslow was built without BPF".to_string());
    [without(), without(), without()]
}

fn try_ptrace() -> Trial {
    match ptrace::calibrate(CALLS) {
        Ok(price) => Trial::Works(format!(
            "a child was recorded; that adds {:.1} us to a call",
            price.added() / 1000.0
        )),
        Err(error) => Trial::Fails(error.to_string()),
    }
}

/// In a thread of its own: what it gives up it does not get back.
fn try_reading() -> Trial {
    match std::thread::spawn(|| whyslow_rights::confine_thread(&[])).join() {
        Ok(confined) if confined.is_whole() => Trial::Works(confined.to_string()),
        Ok(confined) => Trial::Fails(confined.to_string()),
        Err(_) => Trial::NotTried("the trial broke off".to_string()),
    }
}
