//! Rules about the capture itself: what it cannot show, and how to take one that can.

pub(super) mod capture_truncated;
pub(super) mod events_lost;
pub(super) mod filter_hides;
pub(super) mod mid_connection;
pub(super) mod threads_missed;
