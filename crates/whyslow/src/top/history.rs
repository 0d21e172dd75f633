//! The looks of the last minutes: what the charts show, and where a held picture goes back to. Bounded by memory.

use super::look::{Look, Task};
use std::collections::VecDeque;
use std::rc::Rc;
use whyslow_model::Tid;

/// Looks that are kept at most: ten minutes of one a second.
const LOOKS: usize = 600;
/// Bytes that they may take: on a host with thousands of threads the history is shorter.
const BYTES: usize = 32 << 20;
/// Bars, the lowest first.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// What stands for a look that does not know.
const UNKNOWN: char = '·';

/// The looks that are kept, the oldest first.
#[derive(Default)]
pub(super) struct History {
    looks: VecDeque<(Rc<Look>, usize)>,
    bytes: usize,
    /// The number of the oldest: looks are numbered from 0 as they come.
    first: u64,
}

impl History {
    /// Keeps a look; its number.
    pub(super) fn keep(&mut self, look: Rc<Look>) -> u64 {
        let bytes = look.bytes();
        self.bytes = self.bytes.saturating_add(bytes);
        self.looks.push_back((look, bytes));
        while self.looks.len() > 1 && (self.looks.len() > LOOKS || self.bytes > BYTES) {
            if let Some((_, bytes)) = self.looks.pop_front() {
                self.bytes -= bytes;
                self.first += 1;
            }
        }
        self.newest()
    }

    /// The number of the newest.
    pub(super) fn newest(&self) -> u64 {
        self.first + (self.looks.len() as u64).saturating_sub(1)
    }

    /// The number so many looks before (negative) or behind that one, within what is kept.
    pub(super) fn step(&self, from: u64, by: i64) -> u64 {
        from.saturating_add_signed(by).clamp(self.first, self.newest())
    }

    /// The look of that number; `None` where it is kept no more.
    pub(super) fn get(&self, number: u64) -> Option<&Rc<Look>> {
        let at = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.looks.get(at).map(|(look, _)| look)
    }

    /// The last `count` looks up to that one, the oldest first.
    fn until(&self, number: u64, count: usize) -> impl Iterator<Item = &Look> {
        let end = usize::try_from((number + 1).saturating_sub(self.first)).unwrap_or(0).min(self.looks.len());
        self.looks.range(end.saturating_sub(count)..end).map(|(look, _)| &**look)
    }

    /// How full a resource was in the looks up to that one.
    pub(super) fn of_resource(&self, name: &str, number: u64, width: usize) -> String {
        let levels: Vec<Option<f64>> = self.until(number, width).map(|look| look.level(name)).collect();
        match levels.iter().all(Option::is_none) {
            true => " ".repeat(width),
            false => chart(&levels, width),
        }
    }

    /// The CPU time of a task in the looks up to that one.
    pub(super) fn of_task(&self, task: &Task, number: u64, width: usize) -> String {
        // A number that was given again is another program's.
        let is_it = |known: &&Task| known.name() == task.name();
        let values: Vec<Option<f64>> = self
            .until(number, width)
            .map(|look| find(look, task.pid, task.tid).filter(is_it).and_then(Task::cpu))
            .collect();
        chart(&values, width)
    }
}

/// Tasks of a look are in the order of their numbers.
fn find(look: &Look, pid: Tid, tid: Option<Tid>) -> Option<&Task> {
    let tasks = if tid.is_some() { look.threads_of(pid) } else { &look.processes };
    let at = tasks.binary_search_by_key(&tid.unwrap_or(pid), |task| task.tid.unwrap_or(task.pid)).ok()?;
    tasks.get(at)
}

/// Bars of that many looks, the newest at the right. Full height is 1 (all of the resource, one CPU), or the largest of them
/// where that is more.
fn chart(values: &[Option<f64>], width: usize) -> String {
    let full = values.iter().flatten().copied().filter(|value| value.is_finite()).fold(1.0, f64::max);
    let bar = |value: &Option<f64>| match value {
        Some(value) if value.is_finite() => {
            let step = (value / full * BARS.len() as f64).ceil() as usize;
            BARS[step.clamp(1, BARS.len()) - 1]
        }
        _ => UNKNOWN,
    };
    let bars: String = values.iter().map(bar).collect();
    format!("{bars:>width$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::top::look::tests::{look, task};
    use whyslow_model::Metric;

    #[test]
    fn a_chart_tells_nothing_from_unknown() {
        assert_eq!(chart(&[Some(0.0), Some(0.5), None, Some(1.0)], 6), "  ▁▄·█");
        // Of 4 CPUs and 2.
        assert_eq!(chart(&[Some(4.0), Some(2.0), Some(f64::NAN)], 3), "█▄·");
    }

    #[test]
    fn it_is_bounded_and_numbers_stay() {
        let mut history = History::default();
        for at in 0..LOOKS as u64 + 10 {
            assert_eq!(history.keep(Rc::new(look(Vec::new(), Vec::new()))), at);
        }
        assert_eq!((history.looks.len(), history.first), (LOOKS, 10));
        assert!(history.get(9).is_none() && history.get(10).is_some() && history.get(9_999).is_none());
        assert_eq!((history.step(20, -15), history.step(20, i64::MAX)), (10, history.newest()));
        // One that is too large by itself is kept: it is what is shown.
        let huge = (0..60_000).map(|pid| task(pid, 1, "x", &[(Metric::TaskUser, 0.0); 32])).collect();
        history.keep(Rc::new(look(Vec::new(), huge)));
        assert_eq!((history.looks.len(), history.newest()), (1, LOOKS as u64 + 10));
    }

    #[test]
    fn a_task_is_followed_by_its_number_and_name() {
        let mut history = History::default();
        let of = |name: &str, cpu: f64| {
            Rc::new(look(Vec::new(), vec![task(7, 1, name, &[(Metric::TaskUser, cpu)])]))
        };
        history.keep(of("other", 0.9));
        history.keep(of("db", 0.5));
        history.keep(of("db", 1.0));
        let db = task(7, 1, "db", &[]);
        assert_eq!(history.of_task(&db, 2, 4), " ·▄█");
        assert_eq!(history.of_task(&db, 1, 4), "  ·▄");
        assert_eq!(history.of_task(&task(8, 1, "x", &[]), 2, 4), " ···");
    }
}
