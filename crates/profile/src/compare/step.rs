//! One profile as it is compared: its account, how long it took, how many samples it rests on.

use crate::formats::{Loaded, ProfileData};
use crate::kinds::{Account, Measure, Measured};
use hashbrown::{HashMap, HashSet};
use whyslow_model::profile::{LabelValue, Profile, TopReport};

/// One profile of a series.
#[derive(Clone, Debug)]
pub struct SeriesStep {
    /// Its name: the file.
    pub name: String,
    /// The program's file, without its folder; `None`: the profile does not say.
    pub program: Option<String>,
    /// Its account.
    pub account: Account,
    /// What its values measure.
    pub measured: Measured,
    /// When it was taken, ns since the epoch; `None`: the profile does not say.
    pub taken_ns: Option<i64>,
    /// How long was profiled, seconds; `None`: the profile does not say.
    pub seconds: Option<f64>,
    /// How many samples it rests on, or at least how many; `None`: that is unknown, or nothing was sampled.
    pub samples: Option<u64>,
    /// The value of the thread with the most; `None`: threads are not told apart.
    pub busiest_thread: Option<f64>,
    /// How much work was done in it; `None`: nobody said.
    pub work: Option<f64>,
}

impl SeriesStep {
    /// Of a file; `None` where it has no value.
    pub fn of(name: &str, loaded: &Loaded) -> Option<SeriesStep> {
        let (account, measured) = Account::of_data(&loaded.data)?;
        let (taken_ns, duration_ns, program, samples, busiest_thread) = match &loaded.data {
            ProfileData::Stacks(profile) => {
                let sample_type = Measure::default_type(profile)?;
                let program = profile.mappings.first().map_or("", |mapping| profile.str(mapping.file));
                let samples = samples(profile, sample_type, measured.measure);
                let busiest = busiest_thread(profile, sample_type);
                (profile.time_ns, profile.duration_ns, program, samples, busiest)
            }
            ProfileData::Table(table) => {
                let samples = samples_of_table(table, measured.measure);
                (None, table.duration_ns, table.file.as_str(), samples, None)
            }
        };
        // perf script names the files in the order in which it met them: a library or the kernel may be first.
        let is_program = |name: &&str| !name.is_empty() && !name.contains(".so") && !name.starts_with('[');
        let program = program.rsplit('/').next().filter(is_program).map(str::to_string);
        let seconds = duration_ns.filter(|ns| *ns > 0).map(|ns| ns as f64 / 1e9);
        let name = name.to_string();
        Some(SeriesStep {
            name,
            program,
            account,
            measured,
            taken_ns,
            seconds,
            samples,
            busiest_thread,
            work: None,
        })
    }

    /// True where the two seem to be of one program: its file has the same name, or half of the cost of either is in functions
    /// that the other knows.
    pub fn is_of_same_program(&self, other: &SeriesStep) -> bool {
        if let (Some(one), Some(other)) = (&self.program, &other.program) {
            return one == other;
        }
        let names = |step: &SeriesStep| -> HashSet<String> {
            step.account.functions.iter().map(|function| function.name.clone()).collect()
        };
        let known = |step: &SeriesStep, names: &HashSet<String>| {
            let functions = || step.account.functions.iter();
            let known = functions().filter(|function| names.contains(&function.name));
            let sum = |costs: &mut dyn Iterator<Item = f64>| costs.sum::<f64>();
            sum(&mut known.map(|function| function.flat))
                >= 0.5 * sum(&mut functions().map(|function| function.flat))
        };
        known(self, &names(other)) && known(other, &names(self))
    }

    /// CPUs kept busy; `None` where the length of the profile is unknown or its values are no times.
    pub fn cpus(&self) -> Option<f64> {
        self.a_second(self.account.total)
    }

    /// CPUs kept busy by the busiest thread; `None` as above, and where threads are not told apart.
    pub fn busiest_cpus(&self) -> Option<f64> {
        self.a_second(self.busiest_thread?)
    }

    fn a_second(&self, value: f64) -> Option<f64> {
        let spent = self.measured.seconds(value)?;
        self.seconds.filter(|seconds| *seconds > 0.0).map(|seconds| spent / seconds)
    }
}

/// How many samples a value rests on: the profile counts them, or says how far they are apart, or has a row for each different
/// one, so that there are at least as many.
fn samples(profile: &Profile, sample_type: usize, measure: Measure) -> Option<u64> {
    let of_time = matches!(measure, Measure::Cpu | Measure::Wall);
    let types = &profile.sample_types;
    if let Some(counted) =
        types.iter().position(|kind| profile.str(kind.kind) == "samples").filter(|_| of_time)
    {
        return u64::try_from(profile.total(counted)).ok();
    }
    let unit = types.get(sample_type)?.unit;
    if of_time && profile.str(unit) == "count" {
        return u64::try_from(profile.total(sample_type)).ok();
    }
    let apart =
        profile.period_type.filter(|of| profile.str(of.unit) == profile.str(unit)).and(profile.period);
    match apart.filter(|period| *period > 0) {
        Some(period) => u64::try_from(profile.total(sample_type) / period).ok(),
        None if of_time => {
            let has_value = |values: &[i64]| values.get(sample_type).is_some_and(|value| *value != 0);
            Some(profile.samples().filter(|sample| has_value(sample.values)).count() as u64)
        }
        None => None,
    }
}

/// Each row is a whole number of samples: one stands for their greatest common divisor at most.
fn samples_of_table(table: &TopReport, measure: Measure) -> Option<u64> {
    let total = table.total.as_ref()?.value;
    let rows = table.rows.iter().flat_map(|row| [row.flat.value, row.cum.value]);
    let apart = rows.chain([total]).fold(0, |a, b| gcd(a, b.unsigned_abs()));
    let is_sampled = matches!(measure, Measure::Cpu | Measure::Wall) && !table.rows.is_empty() && apart > 0;
    is_sampled.then(|| total.unsigned_abs() / apart)
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The largest sum of a thread, by the label `tid` that perf and our own recorder give.
fn busiest_thread(profile: &Profile, sample_type: usize) -> Option<f64> {
    /// More are no threads.
    const MOST: usize = 65_536;
    let mut sums: HashMap<i64, i64> = HashMap::new();
    for sample in profile.samples() {
        let tid = sample.labels.iter().find_map(|label| match label.value {
            // 0 is a CPU's idle loop.
            LabelValue::Number(tid, _) if tid != 0 && profile.str(label.key) == "tid" => Some(tid),
            _ => None,
        });
        let (Some(tid), Some(value)) = (tid, sample.values.get(sample_type)) else { continue };
        if sums.len() < MOST || sums.contains_key(&tid) {
            let sum = sums.entry(tid).or_default();
            *sum = sum.saturating_add(*value);
        }
    }
    sums.into_values().max().map(|sum| sum as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::{Limits, read};

    fn step(text: &str) -> SeriesStep {
        SeriesStep::of("x", &read(text.as_bytes(), "x", Limits::default()).unwrap()).unwrap()
    }

    #[test]
    fn samples_are_counted_or_known_at_least() {
        assert_eq!(step("a;b 3\na;c 4\n").samples, Some(7));
        // 0.12 s, 0.05 s and 0.30 s: one sample stands for 10 ms at most.
        let table = "Duration: 1s, Total samples = 300ms (30.00%)\nShowing nodes accounting for 170ms, 56.67% of 300ms total\n      flat  flat%   sum%        cum   cum%\n     120ms 40.00% 40.00%      120ms 40.00%  main.a\n      50ms 16.67% 56.67%       50ms 16.67%  main.b\n";
        let table = step(table);
        assert_eq!((table.samples, table.seconds, table.busiest_thread), (Some(30), Some(1.0), None));
    }

    #[test]
    fn the_busiest_thread_is_told_where_threads_are() {
        let perf = "app 7/8 1.0: 1000000000 cpu-clock: \n\t1 f (/bin/app)\n\napp 7/9 3.0: 500000000 cpu-clock: \n\t1 f (/bin/app)\n\n";
        let perf = step(perf);
        assert_eq!((perf.cpus(), perf.busiest_cpus()), (Some(0.75), Some(0.5)));
        assert_eq!((perf.program.as_deref(), perf.samples), (Some("app"), Some(2)));
    }
}
