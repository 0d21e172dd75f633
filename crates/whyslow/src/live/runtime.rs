//! Runtimes that compile or interpret: which one a process runs in, and whether it tells what it compiled.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Which one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A JVM.
    Jvm,
    /// Node.
    Node,
    /// CPython 3.
    Python {
        /// 12 of 3.12, where its file's name tells.
        minor: Option<u32>,
    },
}

/// A process of a runtime.
#[derive(Clone, Debug)]
pub(super) struct Runtime {
    pub(super) pid: u32,
    pub(super) kind: Kind,
    /// The file where it tells what it compiled is there (`/tmp/perf-PID.map`).
    pub(super) has_perf_map: bool,
    /// Of a JVM: its compiled code keeps the frame pointer.
    pub(super) keeps_frame_pointer: bool,
}

/// Bytes read of /proc/PID/maps, cmdline and environ.
const MOST: u64 = 4 << 20;
/// How long a JVM may take to write its names.
const PATIENCE: Duration = Duration::from_secs(10);

impl Runtime {
    /// The runtime of a process; `None` where it has none that compiles, or has ended.
    pub(super) fn of(pid: u32) -> Option<Runtime> {
        let maps = read(pid, "maps");
        let files = maps.split(|byte| *byte == b'\n').filter_map(|line| {
            let path = line.get(memchr_slash(line)?..)?;
            Some(String::from_utf8_lossy(path.rsplit(|byte| *byte == b'/').next()?).into_owned())
        });
        let kind = files.filter_map(|name| kind_of(&name)).next()?;
        let asked = [read(pid, "cmdline"), read(pid, "environ")].concat();
        let has = |text: &[u8]| asked.windows(text.len()).any(|part| part == text);
        Some(Runtime {
            pid,
            kind,
            has_perf_map: perf_map(pid).exists(),
            keeps_frame_pointer: has(b"+PreserveFramePointer"),
        })
    }

    /// Asks a JVM to write down the names of what it compiled so far.
    pub(super) fn ask_for_names(&mut self) {
        if self.kind != Kind::Jvm {
            return;
        }
        let command = Command::new("jcmd")
            .args([&self.pid.to_string(), "Compiler.perfmap"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut command) = command else { return };
        let began = Instant::now();
        while began.elapsed() < PATIENCE && matches!(command.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = command.kill();
        let _ = command.wait();
        self.has_perf_map = perf_map(self.pid).exists();
    }
}

/// By the name of a mapped file.
fn kind_of(name: &str) -> Option<Kind> {
    if name == "libjvm.so" {
        return Some(Kind::Jvm);
    }
    if matches!(name, "node" | "nodejs") || name.starts_with("libnode.so") {
        return Some(Kind::Node);
    }
    let behind = name.strip_prefix("libpython3").or_else(|| name.strip_prefix("python3"))?;
    let minor = behind.strip_prefix('.').and_then(|text| {
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        text[..digits].parse().ok()
    });
    (behind.is_empty() || minor.is_some()).then_some(Kind::Python { minor })
}

fn memchr_slash(line: &[u8]) -> Option<usize> {
    line.iter().position(|byte| *byte == b'/')
}

/// In the process's own `/tmp`, under its own number there.
fn perf_map(pid: u32) -> PathBuf {
    let status = read(pid, "status");
    let line = status.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"NSpid:"));
    let inner = line.and_then(|line| line.split(u8::is_ascii_whitespace).rfind(|word| !word.is_empty()));
    let inner = inner.map_or_else(|| pid.to_string(), |word| String::from_utf8_lossy(word).into_owned());
    PathBuf::from(format!("/proc/{pid}/root/tmp/perf-{inner}.map"))
}

fn read(pid: u32, file: &str) -> Vec<u8> {
    use std::io::Read;
    let mut text = Vec::new();
    let path = Path::new("/proc").join(pid.to_string()).join(std::ffi::OsStr::from_bytes(file.as_bytes()));
    if let Ok(file) = std::fs::File::open(path) {
        // What was read before an error is worth a look.
        let _ = file.take(MOST).read_to_end(&mut text);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runtime_is_told_by_what_is_mapped() {
        assert_eq!(kind_of("libjvm.so"), Some(Kind::Jvm));
        assert_eq!(kind_of("node"), Some(Kind::Node));
        assert_eq!(kind_of("python3.12"), Some(Kind::Python { minor: Some(12) }));
        assert_eq!(kind_of("libpython3.9.so.1.0"), Some(Kind::Python { minor: Some(9) }));
        assert_eq!(kind_of("python3"), Some(Kind::Python { minor: None }));
        for other in ["libc.so.6", "python3-config", "nodemon", "libpython3.so", ""] {
            assert_eq!(kind_of(other), None, "{other}");
        }
    }
}
