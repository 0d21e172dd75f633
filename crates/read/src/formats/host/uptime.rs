//! uptime and w: the load, and how long the machine is up.
//!
//! ```text
//!  10:00:01 up 422 days, 15:29, 14 users,  load average: 44.57, 42.67, 40.79
//! ```

use super::line::{DayClock, Line, pairs, time_of_day};
use super::{Block, Out, Step, Tool};
use whyslow_model::{ClockKind, Entity, FigureRow, Metric, Timestamp};

pub(super) static UPTIME: Tool = Tool { begins, row: |_| false, open: || Box::<Uptime>::default() };

fn begins(line: &Line<'_>) -> bool {
    line.text.contains("load average")
        && time_of_day(line, 0).is_some_and(|(_, words)| line.word(words) == "up")
}

/// Sets load and uptime from what stands behind the time: `up  6:39,  1 user,  load average: 0,20, 0,36, 0,56`.
pub(super) fn say_load(row: &mut FigureRow, text: &str) {
    // The words before it are translated, its three figures at the end are not.
    if let Some((_, figures)) = text.rsplit_once(':')
        && let [(one, _), (five, _), (fifteen, _)] = pairs(figures)[..]
    {
        row.set(Metric::Load1, one);
        row.set(Metric::Load5, five);
        row.set(Metric::Load15, fifteen);
    }
    if let Some(age) = text.split_once("up ").and_then(|(_, up)| uptime(up)) {
        row.set(Metric::Age, age);
    }
}

/// Nanoseconds of `422 days, 15:29,`, `2 min,`, `6:39,`, `1 day,  2:03,`.
fn uptime(text: &str) -> Option<f64> {
    const MINUTE: f64 = 60e9;
    let mut words = text.split_ascii_whitespace().map(|word| word.trim_end_matches(',')).peekable();
    let mut age = 0.0;
    let mut known = false;
    while let Some(word) = words.next() {
        if let Some((hours, minutes)) = word.split_once(':') {
            let (hours, minutes): (f64, f64) = (hours.parse().ok()?, minutes.parse().ok()?);
            return Some(age + (hours * 60.0 + minutes) * MINUTE);
        }
        let Ok(count) = word.parse::<f64>() else { break };
        match words.next() {
            Some("day" | "days" | "Tag" | "Tage" | "jour" | "jours") => age += count * 24.0 * 60.0 * MINUTE,
            Some("min") => return Some(age + count * MINUTE),
            _ => break,
        }
        known = true;
    }
    (known && age.is_finite()).then_some(age)
}

#[derive(Default)]
struct Uptime {
    clock: DayClock,
    /// Below the header of `w` who is logged in is listed.
    users: bool,
}

impl Block for Uptime {
    fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Step {
        if begins(line) {
            let mut table = out.table("uptime");
            let mut row = FigureRow::new(Entity::Host);
            say_load(&mut row, line.text);
            line.sign(&mut row);
            if let Some((time, _)) = time_of_day(line, 0) {
                out.clock(ClockKind::TimeOfDay);
                table.at = Timestamp::new(self.clock.carry(time));
            }
            table.rows.push(row);
            out.push(table);
            self.users = false;
            return Step::Used;
        }
        self.users |= line.starts(&["USER", "TTY"]);
        if self.users { Step::Used } else { Step::Other }
    }

    fn end(&mut self, _: &mut Out<'_>) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_long_it_is_up() {
        let hours = |text| uptime(text).map(|ns| ns / 3_600e9);
        assert_eq!(hours("422 days, 15:30, 14 users"), Some(422.0 * 24.0 + 15.5));
        assert_eq!(hours(" 6:30,  1 user"), Some(6.5));
        assert_eq!(hours("30 min,  2 users"), Some(0.5));
        assert_eq!(hours("2 days,  1 user"), Some(48.0));
        assert_eq!(hours("x"), None);
    }
}
