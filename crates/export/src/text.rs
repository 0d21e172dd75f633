//! Text out of captures, for files of other tools: without secrets, and no longer than people read.

use std::borrow::Cow;
use whyslow_facts::Facts;
use whyslow_model::Tid;

/// Bytes that are kept of the arguments of a call.
pub(crate) const LONGEST: usize = 400;

/// The text without what [`whyslow_privacy::redact`] takes for a secret. Its other characters stay: the formats escape them.
pub fn shown(text: &str) -> Cow<'_, str> {
    whyslow_privacy::redact(text)
}

/// The same of captured bytes, cut. It is cut behind the redaction: half a secret would not be known for one.
pub(crate) fn shown_bytes(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let shown = shown(&text);
    match shown.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown.into_owned(),
    }
}

/// The name of a process; its number where it has none.
pub(crate) fn name_of_process(facts: &Facts, pid: Tid) -> String {
    let threads = &facts.world.threads;
    let process = threads.last_process(pid).and_then(|id| threads.known_process(id));
    match process.and_then(|process| process.name()) {
        Some(name) => shown(name).into_owned(),
        None => format!("process {pid}"),
    }
}

/// The name of a thread: its own, else its process', else its number.
pub(crate) fn name_of_thread(facts: &Facts, tid: Tid) -> String {
    let threads = &facts.world.threads;
    let thread = threads.thread_of(tid);
    let own = thread.and_then(|thread| thread.comm.as_deref());
    let process = || threads.known_process(thread?.process)?.name();
    own.or_else(process).map_or_else(|| format!("thread {tid}"), |name| shown(name).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_go_before_the_text_is_cut() {
        let text = format!("{} token=abcdef123456", "x".repeat(LONGEST - 10));
        let shown = shown_bytes(text.as_bytes());
        assert!(!shown.contains("abc"), "{shown}");
        assert!(shown.ends_with('…'));
        assert_eq!(shown_bytes(b"a\xffb"), "a\u{fffd}b");
    }
}
