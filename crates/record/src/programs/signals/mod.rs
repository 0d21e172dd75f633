//! Signals as they are delivered to the watched threads.

use super::{Program, by_section, kind, object};

pub(super) static SIGNALS: Program = Program {
    name: "signals",
    summary: "signals delivered, with their sender",
    cost: "about 100 ns a signal delivered to a watched thread, 30 ns to any other",
    tables: &["signals"],
    rare: &[("signals", &[kind::SIGNAL])],
    wanted: |options| options.signals,
    needed: false,
    object: object!("signals"),
    attach: &[&[by_section("signal_delivered")]],
};
