//! Sessions of a database that keeps its locks itself. PostgreSQL writes into the title of each session's process what that does
//! (`update_process_title`): `postgres: shop orders 10.0.0.7(40120) UPDATE waiting` waits for a lock, and one that is `idle in
//! transaction` keeps its locks until its client goes on.

use super::locks::bounded_file;
use super::owners::name_of;

/// Sessions of one server that are looked at.
const MOST_SESSIONS: usize = 128;

/// What a session does that others have to do with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Session {
    /// It waits for a lock that another session holds.
    Waits,
    /// Its transaction is open, and it waits for its client.
    Holds,
}

/// What the title says; `None` for what is no session, and for one that does something else.
fn of_title(title: &[u8]) -> Option<Session> {
    let title = title.strip_prefix(b"postgres: ")?;
    let title = title.trim_ascii_end();
    let title = match title.iter().position(|byte| *byte == 0) {
        Some(end) => title[..end].trim_ascii_end(),
        None => title,
    };
    if title.ends_with(b" waiting") {
        return Some(Session::Waits);
    }
    let is_open =
        title.ends_with(b" idle in transaction") || title.ends_with(b" idle in transaction (aborted)");
    is_open.then_some(Session::Holds)
}

/// What a process does as a session.
pub(super) fn session(pid: u32) -> Option<Session> {
    if name_of(pid)? != "postgres" {
        return None;
    }
    of_title(&bounded_file(&format!("/proc/{pid}/cmdline")))
}

/// The session of the same server whose transaction is open, where there is one alone: of several nobody knows which holds the lock.
pub(super) fn holder(pid: u32) -> Option<u32> {
    let parent = super::status(pid)?.parent?;
    let children = bounded_file(&format!("/proc/{parent}/task/{parent}/children"));
    let children = std::str::from_utf8(&children).ok()?.split_ascii_whitespace();
    let others = children.filter_map(|word| word.parse().ok()).filter(|other| *other != pid);
    let mut open = others.take(MOST_SESSIONS).filter(|other| session(*other) == Some(Session::Holds));
    let first = open.next()?;
    open.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn titles_tell_who_waits_and_whose_transaction_is_open() {
        let of = |title: &str| of_title(title.as_bytes());
        assert_eq!(of("postgres: shop orders 10.0.0.7(40120) UPDATE waiting\0"), Some(Session::Waits));
        assert_eq!(of("postgres: shop orders [local] idle in transaction\0\0"), Some(Session::Holds));
        assert_eq!(of("postgres: main: a b [local] idle in transaction (aborted)"), Some(Session::Holds));
        assert_eq!(of("postgres: shop orders 10.0.0.7(40120) idle\0"), None);
        assert_eq!(of("postgres: checkpointer \0"), None);
        assert_eq!(of("sh\0-c\0sleep waiting\0"), None);
    }

    #[test]
    fn this_process_is_no_session() {
        assert_eq!((session(std::process::id()), holder(std::process::id())), (None, None));
    }

    proptest! {
        #[test]
        fn any_title_is_survived(title in prop::collection::vec(any::<u8>(), 0..80)) {
            of_title(&title);
            of_title(&[b"postgres: ", &title[..]].concat());
        }
    }
}
