//! What the watched threads do while they are on a CPU: their stacks, at a fixed rate.

use super::{Program, by_timer, kind, object};

pub(super) static SAMPLES: Program = Program {
    name: "samples",
    summary: "stacks of what runs on each CPU, at a fixed rate",
    cost: "not measured yet",
    tables: &["samples"],
    rare: &[("samples", &[kind::SAMPLE])],
    wanted: |options| options.sample_hz > 0,
    needed: false,
    object: object!("samples"),
    attach: &[&[by_timer("sample")]],
};
