//! Each target of fuzzing for a bounded number of rounds, from a fixed seed: its seeds as they are, then damaged ones. A test a target:
//! `cargo test -p whyslow-fuzz --test targets -- read-strace`. `FUZZ_ROUNDS=100000` runs longer, `FUZZ_SEED=7` elsewhere, and
//! `FUZZ_FILE=PATH` runs one input; `FUZZ_SEEDS=FOLDER` only writes the seeds, a folder a target. What fails is kept below `target/tmp/fuzz/`, and so is the input under way, for an end without
//! a word.

use fastrand::Rng;
use libtest_mimic::{Arguments, Failed, Trial};
use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use whyslow_fuzz::{Target, mutated, targets};

/// Rounds of a target, where nothing else is asked for: all targets together take at most 30 s of CPU time without optimisation.
const ROUNDS: u64 = 1_500;
/// CPU time that one input may take: so neighbours do not count. The slowest of a million takes a hundredth.
const MOST_CPU: Duration = Duration::from_secs(20);
/// What the process may have taken at most.
const MOST_MEMORY: u64 = 1 << 30;
/// Beyond, an allocation fails: what an input claims shall not take the machine down.
const MOST_ADDRESSES: u64 = 8 << 30;

/// CPU time of the process at which the input under way was begun, ns.
static BEGAN: AtomicU64 = AtomicU64::new(u64::MAX);

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // One after another: time and memory are those of the process.
    arguments.test_threads = Some(1);
    if !arguments.list {
        let limit = Rlimit { current: Some(MOST_ADDRESSES), maximum: Some(MOST_ADDRESSES) };
        setrlimit(Resource::As, limit).expect("less than without a limit");
        std::thread::spawn(watch);
    }
    let mut trials: Vec<Trial> = targets()
        .into_iter()
        .map(|target| Trial::test(target.name.clone(), move || check(&target)))
        .collect();
    trials.push(Trial::test("names are typed easily and stand once", names));
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn names() -> Result<(), Failed> {
    let mut names: Vec<String> = targets().into_iter().map(|target| target.name).collect();
    names.sort();
    let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
    assert!(twice.is_none(), "{twice:?}");
    let plain = |name: &String| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    assert!(names.iter().all(plain), "{names:?}");
    Ok(())
}

fn number(variable: &str) -> Result<Option<u64>, Failed> {
    let Ok(text) = std::env::var(variable) else { return Ok(None) };
    Ok(Some(text.parse().map_err(|_| format!("{variable}={text}: this is no number"))?))
}

fn check(target: &Target) -> Result<(), Failed> {
    let runner = Runner::new(target)?;
    if let Some(file) = std::env::var_os("FUZZ_FILE") {
        let data = std::fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        return runner.run(&data);
    }
    let mut seeds = (target.seeds)();
    if seeds.is_empty() {
        return Err("no capture of the repository is of this format: put one below captures/".into());
    }
    if let Some(folder) = std::env::var_os("FUZZ_SEEDS") {
        return write_seeds(&Path::new(&folder).join(&target.name), &seeds);
    }
    seeds.extend(target.kept());
    seeds.iter().try_for_each(|seed| runner.run(seed))?;
    let rounds = (number("FUZZ_ROUNDS")?.unwrap_or(ROUNDS) / u64::from(target.cost)).max(1);
    let mut hasher = DefaultHasher::new();
    (&target.name, number("FUZZ_SEED")?).hash(&mut hasher);
    let mut random = Rng::with_seed(hasher.finish());
    (0..rounds).try_for_each(|_| runner.run(&mutated(&seeds, &mut random)))?;
    println!("{}: {} seeds, {rounds} rounds", target.name, seeds.len());
    Ok(())
}

fn write_seeds(folder: &Path, seeds: &[Vec<u8>]) -> Result<(), Failed> {
    std::fs::create_dir_all(folder)?;
    for (number, seed) in seeds.iter().enumerate() {
        std::fs::write(folder.join(format!("seed-{number:03}")), seed)?;
    }
    Ok(())
}

/// Runs the inputs of one target.
struct Runner<'a> {
    target: &'a Target,
    folder: PathBuf,
    /// The input under way.
    current: File,
}

impl Runner<'_> {
    fn new(target: &Target) -> Result<Runner<'_>, Failed> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fuzz");
        std::fs::create_dir_all(&folder)?;
        let current = File::create(folder.join(format!("{}.current", target.name)))?;
        Ok(Runner { target, folder, current })
    }

    fn run(&self, data: &[u8]) -> Result<(), Failed> {
        self.current.set_len(data.len() as u64)?;
        self.current.write_all_at(data, 0)?;
        let began = cpu_time();
        BEGAN.store(began, Ordering::Relaxed);
        let result = catch_unwind(AssertUnwindSafe(|| (self.target.run)(data)));
        BEGAN.store(u64::MAX, Ordering::Relaxed);
        let took = Duration::from_nanos(cpu_time() - began);
        let memory = peak_memory();
        let wrong = match result {
            Err(_) => "it panicked (above)".to_string(),
            Ok(()) if took > MOST_CPU => format!("it took {took:?} of CPU time"),
            Ok(()) if memory > MOST_MEMORY => format!("the process took {} MiB", memory >> 20),
            Ok(()) => return Ok(()),
        };
        let mut hasher = DefaultHasher::new();
        data.hash(&mut hasher);
        let kept = self.folder.join(format!("{}-{:016x}", self.target.name, hasher.finish()));
        std::fs::write(&kept, data)?;
        let again = format!(
            "FUZZ_FILE={} cargo test -p whyslow-fuzz --test targets -- --exact {}",
            kept.display(),
            self.target.name
        );
        Err(format!("{wrong}; again: {again}").into())
    }
}

/// CPU time of this process, ns.
fn cpu_time() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The most memory that the process ever took.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) << 10
}

/// Ends the process where an input goes on for ever.
fn watch() {
    loop {
        std::thread::sleep(Duration::from_millis(200));
        let began = BEGAN.load(Ordering::Relaxed);
        let took = Duration::from_nanos(cpu_time().saturating_sub(began));
        if began != u64::MAX && took > 3 * MOST_CPU {
            eprintln!(
                "an input takes {took:?} of CPU time and goes on: target/tmp/fuzz/TARGET.current is it"
            );
            std::process::abort();
        }
    }
}
