//! Targets of fuzzing: any bytes through each reader, each reader of profiles, the decoders of protocols and the whole chain. The
//! registries of the crates are the list: a new format is a new target. `tests/targets.rs` runs each for a bounded time on a stable
//! compiler, `fuzz/run` with libFuzzer on a nightly one.

mod checks;
mod mutate;
mod seeds;

pub use mutate::mutated;

use whyslow_profile::formats::PROFILE_FORMATS;
use whyslow_read::formats::FORMATS;

/// Takes any bytes, and panics if they make something wrong.
pub type Run = Box<dyn Fn(&[u8]) + Send + Sync>;
/// Makes the inputs to start from.
pub type Seeds = Box<dyn Fn() -> Vec<Vec<u8>> + Send + Sync>;

/// One target.
pub struct Target {
    /// As it is typed: `read-strace`, `profile-folded-stacks`, `chain`, `wire`.
    pub name: String,
    /// Takes any bytes.
    ///
    /// # Panics
    /// If they make something wrong.
    pub run: Run,
    /// Inputs that get far, from the captures of the repository.
    pub seeds: Seeds,
    /// How much an input costs beside one of a single reader.
    pub cost: u32,
}

/// All targets.
pub fn targets() -> Vec<Target> {
    let readers = FORMATS.iter().map(|format| Target {
        name: name("read", format.name),
        run: Box::new(|data| checks::read_as(format, data)),
        seeds: Box::new(|| seeds::of_reader(format)),
        cost: 1,
    });
    let profiles = PROFILE_FORMATS.iter().map(|format| Target {
        name: name("profile", format.name),
        run: Box::new(|data| checks::read_profile_as(format, data)),
        seeds: Box::new(|| seeds::of_profile(format)),
        cost: 1,
    });
    let wire = Target {
        name: "wire".to_string(),
        run: Box::new(checks::connections),
        seeds: Box::new(seeds::of_wire),
        cost: 1,
    };
    let chain = Target {
        name: "chain".to_string(),
        run: Box::new(checks::whole_chain),
        seeds: Box::new(seeds::of_chain),
        cost: 20,
    };
    readers.chain(profiles).chain([wire, chain]).collect()
}

/// The target of that name.
pub fn find(name: &str) -> Option<Target> {
    targets().into_iter().find(|target| target.name == name)
}

/// A name without what shells and file systems take for something else: `read-proc-pid-fd`.
fn name(kind: &str, format: &str) -> String {
    let words = format.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.fold(kind.to_string(), |name, word| name + "-" + &word.to_ascii_lowercase())
}
