//! The host and what is on it by figures: live samples, a recording's, pasted tables, all as one. A figure stays with
//! the tool that told it, so that two tools can be held against each other.

mod devices;
mod functions;
mod shown;

pub use functions::{call_family, call_name, is_wait};
pub use shown::{counted, figure, metric_words};

use hashbrown::HashMap;
use whyslow_model::{
    Entity, FigureRow, FigureTable, Metric, Nanos, Over, ProgramName, SourceId, Timestamp, Trait,
};

/// One metric of one thing as one tool told it, over all its tables.
#[derive(Clone, Debug)]
pub struct Reading {
    /// What is measured.
    pub metric: Metric,
    /// Who tells.
    pub tool: &'static str,
    /// Where.
    pub source: SourceId,
    /// What it is over.
    pub over: Over,
    /// Seconds that the tables with it cover; 0 where no table says how long it is over.
    pub seconds: f64,
    /// Tables that have it.
    pub tables: u64,
    /// Of these, those in which it was above 0.
    pub above_zero: u64,
    /// The least.
    pub min: f64,
    /// The most.
    pub max: f64,
    /// When it was most.
    pub max_at: Timestamp,
    /// The beginning of what the first table with it is over.
    pub from: Timestamp,
    /// The end of what the last one is over.
    pub to: Timestamp,
    /// The last one.
    pub last: f64,
    /// The line on which it was most, from 1; 0 where the source is no text.
    pub line: u64,
    /// That line.
    pub raw: Box<str>,
    weighted: f64,
    sum: f64,
}

impl Reading {
    /// Over all tables: weighted by their lengths where these are known.
    pub fn mean(&self) -> f64 {
        if self.seconds > 0.0 { self.weighted / self.seconds } else { self.sum / self.tables.max(1) as f64 }
    }

    /// The sum over all tables, of what each of them adds up: calls, bytes.
    pub fn sum(&self) -> f64 {
        self.sum
    }

    /// What it comes to in all, of a rate over a known time.
    pub fn total(&self) -> Option<f64> {
        (self.seconds > 0.0).then_some(self.weighted)
    }

    /// True where it is over a stretch of time that was looked at, or a level: not since boot, not over a life.
    pub fn is_current(&self) -> bool {
        matches!(self.over, Over::Interval(_) | Over::Moment)
    }

    /// False where it and `other` are known to be of different times: apart by more than [`SAME_TIME`], or one of them
    /// since boot or over a life. Two clocks that cannot be compared, or none, leave it possible.
    pub fn may_be_of_one_time(&self, other: &Reading) -> bool {
        other.is_current() && self.may_be_of(other.from, other.to)
    }

    /// The same for what was seen from `from` to `to`.
    pub fn may_be_of(&self, from: Timestamp, to: Timestamp) -> bool {
        /// The beginning of the second day of 1970: a smaller time is a time of day.
        const ONE_DAY: u64 = 86_400 * 1_000_000_000;
        let is_date = |ts: Timestamp| ts.get().is_some_and(|ns| ns >= ONE_DAY);
        let apart = |earlier: Timestamp, later: Timestamp| {
            let gap = later.since(earlier).get();
            is_date(earlier) == is_date(later) && gap.is_some_and(|gap| gap > SAME_TIME.or_zero())
        };
        self.is_current() && !apart(self.to, from) && !apart(to, self.from)
    }
}

/// Tools that are started by hand one after the other look at the same thing.
const SAME_TIME: Nanos = Nanos::from_secs(10);

/// What is known of one thing.
#[derive(Clone, Debug, Default)]
pub struct Thing {
    /// Its figures, by tool.
    pub readings: Vec<Reading>,
    traits: Vec<(Trait, Box<str>)>,
    /// States that it was seen in (`R`, `D`, …), and how often.
    pub states: Vec<(char, u64)>,
    /// Kernel functions that it was seen waiting in, and how often.
    pub wchans: Vec<(Box<str>, u64)>,
}

impl Thing {
    /// The reading to judge by: over a sampled time, or of a moment; what is only known since boot or over a life says
    /// nothing of now.
    pub fn current_reading(&self, metric: Metric) -> Option<&Reading> {
        self.reading(metric).filter(|reading| reading.is_current())
    }

    /// The sum of the current readings of these metrics; `None` where none of them is known.
    pub fn sum_current(&self, metrics: &[Metric]) -> Option<f64> {
        metrics.iter().filter_map(|metric| self.current(*metric)).reduce(|sum, value| sum + value)
    }

    /// How often it happened in the sampled time; unknown where that time is.
    pub fn times(&self, metric: Metric) -> Option<f64> {
        self.current_reading(metric).and_then(Reading::total)
    }

    /// The reading to go by: a current one before one since boot, then the one over the longest time. What was only counted
    /// so far is none.
    pub fn reading(&self, metric: Metric) -> Option<&Reading> {
        let of_metric = |reading: &&Reading| {
            reading.metric == metric && !matches!(reading.over, Over::Total | Over::Growth)
        };
        self.readings.iter().filter(of_metric).max_by(|a, b| {
            a.is_current()
                .cmp(&b.is_current())
                .then(a.seconds.total_cmp(&b.seconds))
                .then(a.tables.cmp(&b.tables))
        })
    }

    /// What was counted so far, a number and not a rate, where a single dump of the kernel's counters says it.
    pub fn counted(&self, metric: Metric) -> Option<&Reading> {
        self.readings.iter().find(|reading| reading.metric == metric && reading.over == Over::Total)
    }

    /// What it grew by between dumps at unknown times: a number and no rate.
    pub fn grown(&self, metric: Metric) -> Option<&Reading> {
        self.readings.iter().find(|reading| reading.metric == metric && reading.over == Over::Growth)
    }

    /// What part one count is of another over the same time: by their rates, else by what both grew by.
    pub fn part(&self, of: Metric, whole: Metric) -> Option<f64> {
        let rates = self.current(of).zip(self.current(whole));
        let (of, whole) = rates.or_else(|| Some((self.grown(of)?.sum(), self.grown(whole)?.sum())))?;
        (whole > 0.0).then(|| of / whole)
    }

    /// How often it happened: in the sampled time, else between dumps at unknown times.
    pub fn happened(&self, metric: Metric) -> Option<f64> {
        self.times(metric).or_else(|| self.grown(metric).map(Reading::sum))
    }

    /// The mean of the reading to go by.
    pub fn mean(&self, metric: Metric) -> Option<f64> {
        self.reading(metric).map(Reading::mean)
    }

    /// The mean over a time that was looked at, or the level; `None` for what is only known since boot or over a life.
    pub fn current(&self, metric: Metric) -> Option<f64> {
        self.current_reading(metric).map(Reading::mean)
    }

    /// The sum of these means; `None` where none of them is known.
    pub fn sum(&self, metrics: &[Metric]) -> Option<f64> {
        let known: Vec<f64> = metrics.iter().filter_map(|metric| self.mean(*metric)).collect();
        (!known.is_empty()).then(|| known.iter().sum())
    }

    /// CPU time a second, in CPUs, of a task or control group.
    pub fn cpu(&self) -> Option<f64> {
        self.sum(&[Metric::TaskUser, Metric::TaskSystem]).or_else(|| self.mean(Metric::TaskCpu))
    }

    /// What was said of it in words, last.
    pub fn told(&self, of: Trait) -> Option<&str> {
        self.traits.iter().find(|(is, _)| *is == of).map(|(_, text)| &**text)
    }

    /// Of the times that its state was seen, the share in that state.
    pub fn share_in_state(&self, state: char) -> Option<f64> {
        let all: u64 = self.states.iter().map(|(_, times)| times).sum();
        let here: u64 = self.states.iter().filter(|(is, _)| *is == state).map(|(_, times)| times).sum();
        (all > 0).then(|| here as f64 / all as f64)
    }

    /// What to call a task: the script, jar or class that it runs (`app.py`), else what it was started under, else the
    /// kernel's name of it. A title that it gave itself says more of it in its command line.
    pub fn name(&self) -> Option<String> {
        let name = self.told(Trait::Name);
        let command = self.told(Trait::Command).map(|command| ProgramName::of_cmdline(command, name));
        command.and_then(|command| command.names().next().map(str::to_string)).or(name.map(str::to_string))
    }

    fn take(&mut self, row: &FigureRow, table: &FigureTable) {
        let seconds = match table.over {
            Over::Interval(length) => length.as_secs_f64().unwrap_or(0.0),
            _ => 0.0,
        };
        let length = match table.over {
            Over::Interval(length) => length.or_zero(),
            _ => 0,
        };
        let begin = table.at.get().map_or(Timestamp::UNKNOWN, |at| Timestamp::new(at.saturating_sub(length)));
        for &(metric, value) in &row.figures {
            let known = self.readings.iter_mut().find(|reading| {
                reading.metric == metric
                    && reading.tool == table.tool
                    && reading.source == table.source
                    && std::mem::discriminant(&reading.over) == std::mem::discriminant(&table.over)
            });
            match known {
                Some(reading) => {
                    reading.seconds += seconds;
                    reading.weighted += value * seconds;
                    reading.sum += value;
                    reading.tables += 1;
                    reading.above_zero += u64::from(value > 0.0);
                    reading.min = reading.min.min(value);
                    reading.last = value;
                    reading.to = table.at;
                    if value > reading.max {
                        reading.max = value;
                        reading.max_at = table.at;
                        reading.line = row.line;
                        reading.raw = row.raw.clone();
                    }
                }
                None => self.readings.push(Reading {
                    metric,
                    tool: table.tool,
                    source: table.source,
                    over: table.over,
                    seconds,
                    tables: 1,
                    above_zero: u64::from(value > 0.0),
                    min: value,
                    max: value,
                    max_at: table.at,
                    from: begin,
                    to: table.at,
                    last: value,
                    line: row.line,
                    raw: row.raw.clone(),
                    weighted: value * seconds,
                    sum: value,
                }),
            }
        }
        for (of, text) in &row.traits {
            match of {
                Trait::State => {
                    if let Some(state) = text.chars().next() {
                        add(&mut self.states, state, usize::MAX);
                    }
                }
                Trait::Wchan => add(&mut self.wchans, text.clone(), MOST_WCHANS),
                _ => {}
            }
            match self.traits.iter_mut().find(|(is, _)| is == of) {
                Some((_, known)) if known == text => {}
                Some((_, known)) => known.clone_from(text),
                None => self.traits.push((*of, text.clone())),
            }
        }
    }
}

/// Counts one more of `what`, of at most `most` different ones.
fn add<T: PartialEq>(counts: &mut Vec<(T, u64)>, what: T, most: usize) {
    match counts.iter().position(|(is, _)| *is == what) {
        Some(at) => counts[at].1 += 1,
        None if counts.len() < most => counts.push((what, 1)),
        None => {}
    }
}

/// Kernel functions told apart, a thing.
const MOST_WCHANS: usize = 16;

/// A stretch of time that figures of one tool are over.
#[derive(Clone, Copy, Debug)]
pub struct ToolSpan {
    /// Who tells.
    pub tool: &'static str,
    /// Where.
    pub source: SourceId,
    /// Tables of it.
    pub tables: u64,
    /// Seconds that they cover.
    pub seconds: f64,
    /// The end of the first.
    pub first: Timestamp,
    /// The end of the last.
    pub last: Timestamp,
}

/// All things of the host. Bounded: further ones are counted.
#[derive(Debug, Default)]
pub struct Host {
    things: HashMap<Entity, Thing>,
    /// Who told what, a row a tool and source.
    pub told: Vec<ToolSpan>,
    /// Things that found no room.
    pub left_out: u64,
}

impl Host {
    /// Things told apart: a host of 30,000 threads with all its sockets' peers.
    const MOST_THINGS: usize = 65_536;

    pub(crate) fn see(&mut self, table: &FigureTable) {
        let seconds = match table.over {
            Over::Interval(length) => length.as_secs_f64().unwrap_or(0.0),
            _ => 0.0,
        };
        match self.told.iter_mut().find(|told| told.tool == table.tool && told.source == table.source) {
            // Several tables of one moment are one look.
            Some(told) if table.at.is_known() && told.last == table.at => {}
            Some(told) => {
                told.tables += 1;
                told.seconds += seconds;
                told.last = table.at;
            }
            None => self.told.push(ToolSpan {
                tool: table.tool,
                source: table.source,
                tables: 1,
                seconds,
                first: table.at,
                last: table.at,
            }),
        }
        for row in &table.rows {
            if let Some(thing) = self.things.get_mut(&row.of) {
                thing.take(row, table);
            } else if self.things.len() < Host::MOST_THINGS {
                self.things.entry(row.of.clone()).or_default().take(row, table);
            } else {
                self.left_out += 1;
            }
        }
    }

    /// True where no source told any figure.
    pub fn is_empty(&self) -> bool {
        self.things.is_empty()
    }

    /// What is known of that thing.
    pub fn thing(&self, of: &Entity) -> Option<&Thing> {
        self.things.get(of)
    }

    /// The same, with the thing's own name, which lives as long as the facts.
    pub fn entry(&self, of: &Entity) -> Option<(&Entity, &Thing)> {
        self.things.get_key_value(of)
    }

    /// The machine itself.
    pub fn host(&self) -> Option<&Thing> {
        self.thing(&Entity::Host)
    }

    /// A figure of the machine itself.
    pub fn mean(&self, metric: Metric) -> Option<f64> {
        self.host()?.mean(metric)
    }

    /// A share of the machine's CPU time: as a tool says it of all CPUs, else the mean over them.
    pub fn of_cpus(&self, metric: Metric) -> Option<f64> {
        if let Some(share) = self.host().and_then(|host| host.current(metric)) {
            return Some(share);
        }
        let shares: Vec<f64> = self.cpus().iter().filter_map(|(_, cpu)| cpu.current(metric)).collect();
        (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
    }

    /// Single CPUs.
    pub fn cpus(&self) -> Vec<(&Entity, &Thing)> {
        self.things_that(|of| matches!(of, Entity::Cpu(_)))
    }

    /// How many CPUs there are: as told, else as many as are told of.
    pub fn cpu_count(&self) -> Option<f64> {
        self.mean(Metric::CpuCount).or_else(|| match self.cpus().len() {
            0 => None,
            count => Some(count as f64),
        })
    }

    /// All things, sorted, so that what is made of them does not depend on a hash table's order.
    pub fn things(&self) -> Vec<(&Entity, &Thing)> {
        self.things_that(|_| true)
    }

    /// The things that are wanted, sorted.
    pub fn things_that(&self, wanted: impl Fn(&Entity) -> bool) -> Vec<(&Entity, &Thing)> {
        let mut things: Vec<_> = self.things.iter().filter(|(of, _)| wanted(of)).collect();
        things.sort_by_key(|(of, _)| *of);
        things
    }

    /// Block devices and partitions.
    pub fn devices(&self) -> Vec<(&Entity, &Thing)> {
        self.things_that(|of| matches!(of, Entity::Device(_)))
    }

    /// Processes, and commands without a number.
    pub fn processes(&self) -> Vec<(&Entity, &Thing)> {
        self.things_that(|of| matches!(of, Entity::Process(_) | Entity::Command(_)))
    }

    /// True where any thing has that metric, if only since boot or over a life.
    pub fn tells(&self, metric: Metric) -> bool {
        self.things.values().any(|thing| thing.reading(metric).is_some())
    }

    /// Where one of these metrics was only counted so far, the thing of which that is most, with its reading.
    pub fn only_counted(&self, metrics: &[Metric]) -> Option<(&Entity, &Reading)> {
        let counted = |metric: &Metric| {
            let things = self.things.iter().filter_map(|(of, thing)| Some((of, thing.counted(*metric)?)));
            things.max_by(|a, b| a.1.last.total_cmp(&b.1.last).then(b.0.cmp(a.0)))
        };
        metrics.iter().filter(|metric| !self.tells(**metric)).find_map(counted)
    }

    /// True where any thing has that metric of a time that was looked at, or as a level: not only since boot or over a life.
    pub fn knows(&self, metric: Metric) -> bool {
        self.things.values().any(|thing| thing.current(metric).is_some())
    }

    /// True where any thing has that metric as what it grew by between two dumps.
    pub fn knows_growth(&self, metric: Metric) -> bool {
        self.things.values().any(|thing| thing.grown(metric).is_some())
    }

    /// `redis-server (731)`: the process by name and number.
    pub fn name_of(&self, of: &Entity) -> String {
        let name = self.thing(of).and_then(Thing::name);
        match (of, name) {
            (Entity::Process(pid), Some(name)) => format!("{name} ({pid})"),
            (Entity::Thread { tid, .. }, Some(name)) => format!("{name} (thread {tid})"),
            _ => of.to_string(),
        }
    }

    /// The longest time that figures of one tool cover.
    pub fn length(&self) -> Nanos {
        let longest = self.told.iter().map(|told| told.seconds).fold(0.0, f64::max);
        if longest > 0.0 { Nanos::new((longest * 1e9) as u64) } else { Nanos::UNKNOWN }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(over: Over, tool: &'static str, of: Entity, metric: Metric, value: f64) -> FigureTable {
        let mut table = FigureTable::new(SourceId(0), tool);
        table.over = over;
        table.row(of).set(metric, value);
        table
    }

    fn seconds(n: u64) -> Over {
        Over::Interval(Nanos::new(n * 1_000_000_000))
    }

    #[test]
    fn a_process_is_called_by_what_it_runs() {
        for (name, command, expected) in [
            (Some("python3"), Some("python3 /srv/app.py 8080"), Some("app.py")),
            (Some("redis-server"), Some("/usr/bin/redis-server 127.0.0.1:6379"), Some("redis-server")),
            (Some("MainThread"), Some("node"), Some("MainThread")),
            (Some("kworker/0:1"), None, Some("kworker/0:1")),
            (None, None, None),
        ] {
            let mut table = FigureTable::new(SourceId(0), "/proc");
            let row = table.row(Entity::Process(7));
            row.say(Trait::Name, name.unwrap_or_default());
            row.say(Trait::Command, command.unwrap_or_default());
            let mut host = Host::default();
            host.see(&table);
            let thing = host.thing(&Entity::Process(7));
            assert_eq!(thing.and_then(Thing::name).as_deref(), expected, "{command:?}");
        }
    }

    #[test]
    fn means_are_weighted_by_time() {
        let mut host = Host::default();
        host.see(&table(seconds(1), "vmstat", Entity::Host, Metric::CpuUser, 0.9));
        host.see(&table(seconds(3), "vmstat", Entity::Host, Metric::CpuUser, 0.1));
        let reading = host.host().and_then(|host| host.reading(Metric::CpuUser)).expect("told");
        assert!((reading.mean() - 0.3).abs() < 1e-9, "{reading:?}");
        assert_eq!((reading.max, reading.tables, reading.seconds), (0.9, 2, 4.0));
    }

    #[test]
    fn what_is_current_goes_before_what_is_since_boot() {
        let mut host = Host::default();
        host.see(&table(Over::SinceBoot, "vmstat", Entity::Host, Metric::CpuIdle, 0.99));
        assert_eq!(host.mean(Metric::CpuIdle), Some(0.99));
        assert_eq!((host.tells(Metric::CpuIdle), host.knows(Metric::CpuIdle)), (true, false));
        host.see(&table(seconds(1), "vmstat", Entity::Host, Metric::CpuIdle, 0.02));
        assert_eq!(host.mean(Metric::CpuIdle), Some(0.02));
    }

    #[test]
    fn times_that_are_known_to_be_apart_are_not_compared() {
        let reading = |at: Timestamp, over: Over| {
            let mut table = table(over, "x", Entity::Host, Metric::CpuIdle, 0.5);
            table.at = at;
            let mut host = Host::default();
            host.see(&table);
            host.host().and_then(|host| host.reading(Metric::CpuIdle)).expect("told").clone()
        };
        let day = |s: u64| Timestamp::new(s * 1_000_000_000);
        let first = reading(day(40_000), seconds(1));
        assert!(first.may_be_of_one_time(&reading(day(40_005), seconds(1))));
        assert!(!first.may_be_of_one_time(&reading(day(40_700), seconds(1))));
        assert!(first.may_be_of_one_time(&reading(day(40_700), seconds(700))));
        assert!(first.may_be_of_one_time(&reading(Timestamp::UNKNOWN, seconds(1))));
        assert!(first.may_be_of_one_time(&reading(day(1_700_000_000), seconds(1))));
        assert!(!first.may_be_of_one_time(&reading(day(40_000), Over::SinceBoot)));
    }

    #[test]
    fn a_share_of_all_cpus_is_their_mean_where_no_tool_says_it() {
        let mut host = Host::default();
        for (cpu, idle) in [(0, 0.2), (1, 0.6)] {
            host.see(&table(seconds(1), "top", Entity::Cpu(cpu), Metric::CpuIdle, idle));
        }
        assert_eq!((host.of_cpus(Metric::CpuIdle), host.cpu_count()), (Some(0.4), Some(2.0)));
    }

    #[test]
    fn things_past_the_bound_are_counted() {
        let mut host = Host::default();
        let mut table = FigureTable::new(SourceId(0), "ps");
        for pid in 0..Host::MOST_THINGS as u32 + 5 {
            let mut row = FigureRow::new(Entity::Process(pid));
            row.set(Metric::Rss, 1.0);
            table.rows.push(row);
        }
        host.see(&table);
        assert_eq!((host.things().len(), host.left_out), (Host::MOST_THINGS, 5));
    }
}
