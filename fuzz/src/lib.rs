//! Targets of fuzzing: any bytes through each reader, each reader of profiles, the decoders of protocols, the recorder's and the
//! store's own files, and the whole chain. The registries of the crates are the list: a new format, a new stream of the spool, a new
//! table is a new target. `tests/targets.rs` runs each for a bounded time on a stable compiler, `fuzz/run` with libFuzzer on a
//! nightly one.

mod checks;
mod code;
mod mutate;
mod raw_call;
mod recording;
mod room;
mod seeds;
mod spool;
mod values;

pub use mutate::mutated;

use whyslow_profile::formats::PROFILE_FORMATS;
use whyslow_read::formats::FORMATS;
use whyslow_record::SPOOL_STREAMS;
use whyslow_store::TABLES;

/// Takes any bytes, and panics if they make something wrong.
pub type Run = Box<dyn Fn(&[u8]) + Send + Sync>;
/// Makes the inputs to start from.
pub type Seeds = Box<dyn Fn() -> Vec<Vec<u8>> + Send + Sync>;

/// One target.
pub struct Target {
    /// As it is typed: `read-strace`, `profile-folded-stacks`, `spool-calls`, `chain`.
    pub name: String,
    /// Takes any bytes.
    ///
    /// # Panics
    /// If they make something wrong.
    pub run: Run,
    /// Inputs that get far, made here or from the captures of the repository.
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
    let streams = SPOOL_STREAMS.iter().map(|stream| Target {
        name: name("spool", stream),
        run: Box::new(|data| spool::read_stream(stream, data)),
        seeds: Box::new(spool::records),
        cost: 30,
    });
    let tables = TABLES.iter().map(|table| Target {
        name: name("recording", table.name),
        run: Box::new(|data| recording::read_part(table, data)),
        seeds: Box::new(|| recording::parts_of(table)),
        cost: 30,
    });
    let others = [
        of("spool-head", spool::read_head, spool::heads, 30),
        of("raw-call", raw_call::print, raw_call::seeds, 1),
        of("recording-meta", recording::read_meta, recording::heads, 50),
        of("recording-values", recording::read_values, values::seeds, 50),
        of("code-file", code::read, code::files, 2),
        of("perf-map", whyslow_record::symbols::any_file::perf_map, code::maps, 1),
        of("wire", checks::connections, seeds::of_wire, 1),
        of("chain", checks::whole_chain, seeds::of_chain, 20),
    ];
    readers.chain(profiles).chain(streams).chain(tables).chain(others).collect()
}

/// A target that stands in no registry.
fn of(name: &str, run: fn(&[u8]), seeds: fn() -> Vec<Vec<u8>>, cost: u32) -> Target {
    Target { name: name.to_string(), run: Box::new(run), seeds: Box::new(seeds), cost }
}

impl Target {
    /// The inputs that are kept of it, below `corpus/`: what libFuzzer found.
    pub fn kept(&self) -> Vec<Vec<u8>> {
        seeds::kept(&self.name)
    }
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
