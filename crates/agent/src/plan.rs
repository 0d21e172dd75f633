//! What a window is: what is recorded in it, when it begins and ends, and how it is named.

use crate::settings::AgentSettings;
use crate::shed::AgentDetail;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use whyslow_host::Sample;
use whyslow_model::{Event, Sink, visible};
use whyslow_record::{Mode, Options};
use whyslow_store::{Meta, WriteOptions, Writer};

/// Bytes of the rings of calls of all CPUs together.
const RING_BYTES: u64 = 8 << 20;

/// What is recorded at a level of detail.
pub(crate) fn options(
    settings: &AgentSettings,
    detail: AgentDetail,
    pids: Vec<u32>,
    spool: PathBuf,
) -> Options {
    let has = |least: AgentDetail| detail < least;
    Options {
        pids,
        all: settings.all,
        name: settings.names.first().cloned(),
        mode: Mode::Counts,
        few_in_full: has(AgentDetail::Counts),
        payload: if has(AgentDetail::Least) { settings.payload } else { 0 },
        sched: has(AgentDetail::NoSwitches),
        wakeups: has(AgentDetail::NoWaitStacks),
        wait_stacks: settings.wait_stacks && has(AgentDetail::NoWaitStacks),
        sample_hz: if has(AgentDetail::Least) { settings.sample_hz } else { 0 },
        net: has(AgentDetail::Least),
        // They are of the whole time since a thread began to be watched.
        totals: false,
        files: has(AgentDetail::NoSwitches),
        lasting: true,
        ring_bytes: RING_BYTES,
        spool,
        ..Options::default()
    }
}

/// A window that would end sooner takes the next one's time too, us.
const SHORTEST: i64 = 500_000;

/// How long a window is that begins then, us: up to a multiple of its length.
pub(crate) fn rest_of(now: i64, length: i64) -> i64 {
    let rest = length - now.rem_euclid(length);
    if rest < SHORTEST { rest + length } else { rest }
}

/// The multiple that a window which began then is told of.
pub(crate) fn begin_of(began: i64, length: i64) -> i64 {
    let near = began.saturating_add(SHORTEST);
    near - near.rem_euclid(length)
}

/// The host's samples go the way of a recording.
pub(crate) fn write_samples(folder: &Path, samples: &[Sample]) -> Result<(), whyslow_store::StoreError> {
    let meta = Meta { tool: concat!("whyslow ", env!("CARGO_PKG_VERSION")).to_string(), ..Meta::default() };
    let mut writer = Writer::create(folder, meta, WriteOptions::CONVERT)?;
    for table in samples.iter().flat_map(|sample| &sample.tables) {
        writer.push(Event::Figures(Box::new(table.clone())));
    }
    writer.finish().map(drop)
}

/// Of the names of parts: when the agent began, and its process.
pub(crate) fn run_id() -> String {
    let mut number = micros(SystemTime::now()) as u64 ^ u64::from(std::process::id()) << 52;
    let mut digits = Vec::new();
    while number > 0 {
        digits.push(char::from_digit((number % 36) as u32, 36).unwrap_or('0'));
        number /= 36;
    }
    digits.iter().rev().collect()
}

/// How windows are told apart in the names of parts.
pub(crate) struct WindowNames {
    /// Of the run: changes where the same minute comes twice.
    pub(crate) run: String,
    last: i64,
    is_of_minutes: bool,
}

impl WindowNames {
    /// `is_of_minutes`: a window is a minute, of which the name of a part tells.
    pub(crate) fn new(run: String, is_of_minutes: bool) -> WindowNames {
        WindowNames { run, last: i64::MIN, is_of_minutes }
    }

    /// The id of the window that begins then, us since 1970, and is the `number`th of all.
    pub(crate) fn of(&mut self, start: i64, number: u64) -> String {
        if !self.is_of_minutes {
            return format!("{}{:05}", self.run, number % 100_000);
        }
        if start <= self.last {
            // The clock went back, or a second window of this minute: no part may take another's place.
            self.run = run_id();
        }
        self.last = start;
        self.run.clone()
    }
}

pub(crate) fn micros(time: SystemTime) -> i64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as i64)
}

pub(crate) fn in_words(settings: &AgentSettings, processes: usize, missing: &[String]) -> String {
    if settings.all {
        return format!("all processes ({processes} now)");
    }
    let mut words = Vec::new();
    for (what, names) in [
        ("unit", &settings.units),
        ("container", &settings.containers),
        ("name", &settings.names),
        ("cgroup", &settings.cgroups),
    ] {
        words.extend(names.iter().map(|name| format!("{what} {}", visible::line(name))));
    }
    words.extend(settings.ports.iter().map(|port| format!("port {port}")));
    words.extend(settings.pids.iter().map(|pid| format!("process {pid}")));
    let absent = match missing.len() {
        0 => String::new(),
        some => format!("; {some} of them fit nobody now"),
    };
    format!("{} ({processes} processes now{absent})", words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_run_fits_into_names_of_parts() {
        let id = run_id();
        let fits =
            |id: &str| id.len() <= 27 && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'z'));
        assert!(fits(&id) && id.len() >= 4, "{id}");
    }

    #[test]
    fn a_minute_that_comes_twice_has_another_name() {
        const MINUTE: i64 = 60_000_000;
        let mut names = WindowNames::new("run0".to_string(), true);
        assert_eq!([names.of(MINUTE, 1), names.of(2 * MINUTE, 2)], ["run0", "run0"]);
        // The clock is set back by two minutes.
        let again = names.of(0, 3);
        assert_ne!(again, "run0");
        assert_eq!(names.of(MINUTE, 4), again);
        assert_ne!(names.of(MINUTE, 5), again);
        let mut names = WindowNames::new("run0".to_string(), false);
        assert_eq!([names.of(MINUTE, 1), names.of(MINUTE, 2)], ["run000001", "run000002"]);
    }

    #[test]
    fn windows_end_at_the_begin_of_a_minute() {
        const MINUTE: i64 = 60_000_000;
        assert_eq!((rest_of(0, MINUTE), rest_of(25_000_000, MINUTE)), (MINUTE, 35_000_000));
        assert_eq!((rest_of(59_900_000, MINUTE), begin_of(59_900_000, MINUTE)), (60_100_000, MINUTE));
        assert_eq!((begin_of(MINUTE + 7, MINUTE), begin_of(85_000_000, MINUTE)), (MINUTE, MINUTE));
        assert_eq!(begin_of(MINUTE - 3, MINUTE), MINUTE);
    }

    #[test]
    fn each_level_records_no_more_than_the_one_before() {
        let settings = AgentSettings::default();
        let weights = AgentDetail::ALL.map(|detail| {
            let options = options(&settings, detail, vec![1], PathBuf::new());
            let parts = [options.few_in_full, options.sched, options.wait_stacks, options.net, options.files];
            parts.iter().filter(|part| **part).count() + usize::from(options.sample_hz > 0)
        });
        assert!(weights.windows(2).all(|pair| pair[0] > pair[1]), "{weights:?}");
    }

    #[test]
    fn the_targets_are_told_in_words() {
        let settings =
            AgentSettings { units: vec!["nginx".into()], ports: vec![80], ..AgentSettings::default() };
        let words = in_words(&settings, 3, &["no".into()]);
        assert_eq!(words, "unit nginx, port 80 (3 processes now; 1 of them fit nobody now)");
    }
}
