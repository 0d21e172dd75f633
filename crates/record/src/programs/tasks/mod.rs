//! Who is watched, and the beginning, program and end of each thread.

use super::{Program, by_section, kind, object, on_demand};

pub(super) static TASKS: Program = Program {
    name: "tasks",
    summary: "threads and processes: beginning, program, end",
    cost: "under a microsecond a fork, exec or exit of any process; nothing else",
    tables: &["threads", "exits"],
    rare: &[("threads", &[kind::TASK, kind::FORK, kind::EXEC]), ("exits", &[kind::EXIT])],
    wanted: |_| true,
    needed: true,
    object: object!("tasks"),
    attach: &[
        &[by_section("task_fork")],
        &[by_section("task_exec")],
        &[by_section("task_exit")],
        &[by_section("task_free")],
        &[on_demand("watch_wanted")],
        &[on_demand("forget_all")],
    ],
};
