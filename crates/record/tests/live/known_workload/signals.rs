//! Signals: 23 sent to the thread, held against what its handler counted.

use super::{TIMES, only, record};
use std::sync::atomic::{AtomicUsize, Ordering};

static HANDLED: AtomicUsize = AtomicUsize::new(0);

extern "C" fn handle(_: libc::c_int) {
    HANDLED.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn signals_are_told_with_their_sender() {
    let options = only(|options| options.signals = true);
    let work = || {
        // SAFETY: the handler only counts; each signal goes to this thread and is handled before the call returns.
        unsafe {
            libc::signal(libc::SIGUSR1, handle as *const () as libc::sighandler_t);
            for _ in 0..TIMES {
                libc::syscall(libc::SYS_tgkill, libc::getpid(), libc::gettid(), libc::SIGUSR1);
            }
        }
        HANDLED.load(Ordering::Relaxed)
    };
    let Some((seen, handled, _)) = record(options, work, |_| ()) else { return };
    assert_eq!(handled, TIMES);
    // SAFETY: takes nothing.
    let uid = unsafe { libc::getuid() };
    let info = format!("{{si_signo=SIGUSR1, si_code=SI_TKILL, si_pid={}, si_uid={uid}}}", std::process::id());
    assert_eq!(seen.signals, vec![("SIGUSR1".to_string(), info); TIMES]);
    seen.assert_whole("signals", TIMES);
}
