//! A timer that interrupts the recorder's wait, so that it looks at its stop flag even where nothing happens.

use std::io;
use std::time::Duration;

/// Wakes the thread that made it out of a blocking call, again and again, until it is dropped.
///
/// It uses `SIGURG`: its default is to be ignored, so that a stray one harms nobody, and programs that send urgent
/// data to themselves are rare.
pub(super) struct Ticker {
    timer: libc::timer_t,
}

extern "C" fn nothing(_: libc::c_int) {}

impl Ticker {
    pub(super) fn start(every: Duration) -> io::Result<Ticker> {
        // SAFETY: sigaction and sigevent are plain data; all zero is a value of them.
        let (mut action, mut event): (libc::sigaction, libc::sigevent) = unsafe { std::mem::zeroed() };
        // No SA_RESTART: the wait is to return.
        action.sa_sigaction = nothing as extern "C" fn(libc::c_int) as usize;
        // SAFETY: `action` lives until the call is back; the handler does nothing and so is safe at any moment. It is
        // never taken back: another thread's ticker may need it.
        if unsafe { libc::sigaction(libc::SIGURG, &action, std::ptr::null_mut()) } < 0 {
            return Err(io::Error::last_os_error());
        }
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = libc::SIGURG;
        event.sigev_notify_thread_id = rustix::thread::gettid().as_raw_nonzero().get();
        let mut timer: libc::timer_t = std::ptr::null_mut();
        // SAFETY: `event` and `timer` live until the call is back.
        if unsafe { libc::timer_create(libc::CLOCK_MONOTONIC, &mut event, &mut timer) } < 0 {
            return Err(io::Error::last_os_error());
        }
        let ticker = Ticker { timer };
        let interval =
            libc::timespec { tv_sec: every.as_secs() as _, tv_nsec: every.subsec_nanos() as libc::c_long };
        let times = libc::itimerspec { it_interval: interval, it_value: interval };
        // SAFETY: the timer was just made; `times` lives until the call is back.
        if unsafe { libc::timer_settime(ticker.timer, 0, &times, std::ptr::null_mut()) } < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(ticker)
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        // SAFETY: the timer is ours and deleted only here.
        unsafe {
            libc::timer_delete(self.timer);
        }
    }
}
