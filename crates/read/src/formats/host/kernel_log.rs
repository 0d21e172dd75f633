//! The kernel's log (dmesg, also -T; journalctl -k): processes that were killed for want of memory.
//!
//! ```text
//! [ 812.1] oom-kill:constraint=CONSTRAINT_MEMCG,…,task_memcg=/docker/4f1c,task=java,pid=812,uid=0
//! [ 812.2] Memory cgroup out of memory: Killed process 812 (java) total-vm:…
//! ```
//!
//! A log says what happened since boot, so it tells a total.

use super::line::Line;
use super::{Block, Out, Step, Tool};
use whyslow_model::{Entity, FigureRow, Metric, Over};

pub(super) static KERNEL_LOG: Tool =
    Tool { begins: |_| false, row: |line| what(line).is_some(), open: || Box::<Log>::default() };

/// What a line of the log says.
enum What<'l> {
    /// Who was killed stands here since Linux 5.1: with the group.
    Group(&'l str),
    /// A process was killed.
    Killed,
}

fn what<'l>(line: &Line<'l>) -> Option<What<'l>> {
    if let Some((_, rest)) = line.text.split_once("oom-kill:constraint=") {
        let group = rest.split(',').find_map(|part| part.strip_prefix("task_memcg="));
        return Some(What::Group(group.unwrap_or("/")));
    }
    // `Kill process` until Linux 5.0.
    let (_, rest) = line.text.split_once("ut of memory: Kill")?;
    rest.trim_start_matches("ed").trim_start().starts_with("process ").then_some(What::Killed)
}

#[derive(Default)]
struct Log {
    kills: Vec<FigureRow>,
    groups: Vec<FigureRow>,
}

/// Groups told apart.
const MOST: usize = 256;

/// Counts one more.
fn add(rows: &mut Vec<FigureRow>, of: Entity, line: &Line<'_>) {
    let at = rows.iter().position(|row| row.of == of);
    if at.is_none() && rows.len() >= MOST {
        return;
    }
    let before = at.map(|at| rows.swap_remove(at)).and_then(|row| row.get(Metric::OomKills));
    let mut row = FigureRow::new(of);
    row.set(Metric::OomKills, before.unwrap_or(0.0) + 1.0);
    line.sign(&mut row);
    rows.push(row);
}

impl Block for Log {
    fn line(&mut self, line: &Line<'_>, _: &mut Out<'_>) -> Step {
        match what(line) {
            Some(What::Group(group)) if group != "/" => {
                add(&mut self.groups, Entity::Cgroup(group.into()), line)
            }
            Some(What::Group(_)) => {}
            Some(What::Killed) => add(&mut self.kills, Entity::Host, line),
            None => return Step::Other,
        }
        Step::Used
    }

    fn end(&mut self, out: &mut Out<'_>) {
        let mut table = out.table("dmesg");
        table.over = Over::Total;
        table.rows.append(&mut self.kills);
        table.rows.append(&mut self.groups);
        out.push(table);
    }
}
