//! Rules about waiting, and about not waiting where one should.

pub(super) mod eagain_spin;
pub(super) mod epoll_hup_spin;
pub(super) mod lock_contention;
pub(super) mod sleep_polling;
pub(super) mod zero_timeout_poll;
