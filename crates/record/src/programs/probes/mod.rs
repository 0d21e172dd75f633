//! Functions of the kernel by name (`--probe`): how often the watched threads call them, how long each call takes, and
//! who calls them. By fentry where the kernel has it (a function's first instruction calls the program), else by kprobes.

mod find;

use super::{Program, object};
use crate::bpf::kernel_side::{KernelSide, Way};
use crate::bpf::layout::{CountRow, Fields, Settings};
use crate::bpf::object::{SharedMaps, Sizes};
use crate::bpf::probe;
use crate::error::RecordError;
use find::{Function, Returns};
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use std::cmp::Reverse;
use std::path::Path;

pub(crate) use find::find;

/// Loaded as it is it only makes the maps; [`attach`] loads it once more for each function.
pub(crate) static PROBES: Program = Program {
    name: "probes",
    summary: "functions of the kernel that --probe names: calls, times, callers",
    cost: "on an emulated CPU only so far; of each call of a function that is probed, about as much as of a recorded system call, and the walk over the kernel's stack",
    tables: &["host", "host_tables"],
    rare: &[],
    wanted: |options| !options.probes.is_empty(),
    needed: false,
    object: object!("probes"),
    attach: &[],
};

/// Functions that can be counted at a time (`MAX_PROBES`).
const MOST_FUNCTIONS: usize = 16;
/// Stacks told of each function, the most frequent first; the rest are told as one that is not known.
const MOST_PATHS: usize = 64;

static FENTRY: Way = Way { name: "fentry", begin: "probe_fentry", end: "probe_fexit", is_kprobe: false };
static KPROBE: Way = Way { name: "kprobe", begin: "probe_kprobe", end: "probe_kretprobe", is_kprobe: true };

/// One way alone, for tests: `fentry`, `kprobe`.
const ONLY_BY: &str = "WHYSLOW_PROBE_BY";

/// What was counted of a function.
#[derive(Debug)]
pub(crate) struct Probed {
    pub(crate) name: String,
    /// A result below zero is an errno.
    pub(crate) tells_errors: bool,
    /// The process with its counts, a row a thread (`CountRow::key` has its number).
    pub(crate) rows: Vec<(u32, CountRow)>,
    /// Addresses, innermost first, with how many calls came that way.
    pub(crate) paths: Vec<(Vec<u64>, u64)>,
    pub(crate) lost_calls: u64,
    pub(crate) lost_stacks: u64,
}

/// The ways that this kernel allows.
///
/// # Errors
/// With the reasons, where there is none.
fn ways(functions: &[Function]) -> Result<Vec<&'static Way>, RecordError> {
    let mut ways = Vec::new();
    let only = std::env::var(ONLY_BY).ok();
    let wanted = |way: &Way| only.as_deref().is_none_or(|only| only == way.name);
    let fentry = probe::fentry();
    if fentry.is_ok() && wanted(&FENTRY) {
        ways.push(&FENTRY);
    }
    let has_kprobes = Path::new("/sys/bus/event_source/devices/kprobe").exists();
    if has_kprobes && wanted(&KPROBE) {
        ways.push(&KPROBE);
    }
    if !ways.is_empty() {
        return Ok(ways);
    }
    let lockdown = std::fs::read_to_string("/sys/kernel/security/lockdown").unwrap_or_default();
    let locked = match lockdown.trim() {
        "" => String::new(),
        modes => format!(", lockdown: {modes}"),
    };
    let fentry = match fentry {
        Ok(()) => format!("fentry is not chosen by {ONLY_BY}"),
        Err(error) => format!("it refuses fentry programs ({error}{locked})"),
    };
    let kprobes = match has_kprobes {
        true => format!("kprobes are not chosen by {ONLY_BY}"),
        false => "it has no kprobes (CONFIG_KPROBES is off)".to_string(),
    };
    Err(RecordError::Probe {
        asked: functions.iter().map(Function::target).collect::<Vec<_>>().join(","),
        why: format!("this kernel lets no function be probed: {fentry}, and {kprobes}"),
        next: "record without --probe (the calls of programs are recorded all the same); `whyslow doctor` tells what this machine allows, and the kernels of distributions allow both".to_string(),
    })
}

/// Attaches to each function by the first way that the kernel takes.
///
/// # Errors
/// Where a function cannot be probed, with the reasons.
pub(crate) fn attach(
    kernel: &mut KernelSide,
    settings: &Settings,
    sizes: &Sizes,
    functions: Vec<Function>,
) -> Result<Vec<Probed>, RecordError> {
    if functions.is_empty() {
        return Ok(Vec::new());
    }
    let ways = ways(&functions)?;
    let mut probed = Vec::new();
    for function in functions {
        let settings =
            Settings { probe: probed.len() as u32, probe_returns: function.returns as u32, ..*settings };
        let mut refused = Vec::new();
        let is_attached = ways.iter().any(|way| {
            let result = kernel.probe(&PROBES, &settings, sizes, &function.target(), way);
            result.map_err(|error| refused.push(format!("{}: {}", way.name, reason(&error)))).is_ok()
        });
        if !is_attached {
            return Err(RecordError::Probe {
                asked: function.target(),
                why: format!("the kernel refuses it ({})", refused.join("; ")),
                next: "it may be inlined where it is called, or marked as not to be traced: try a function that calls it or that it calls".to_string(),
            });
        }
        probed.push(Probed {
            tells_errors: function.returns != Returns::NoErrno,
            name: function.name,
            rows: Vec::new(),
            paths: Vec::new(),
            lost_calls: 0,
            lost_stacks: 0,
        });
    }
    Ok(probed)
}

/// The first line of an error, without what to do next.
fn reason(error: &RecordError) -> String {
    error.to_string().lines().next().unwrap_or_default().to_string()
}

/// Reads what was counted. Nothing is attached any more.
///
/// # Errors
/// If the kernel's maps cannot be read.
pub(crate) fn take(maps: &SharedMaps, mut probed: Vec<Probed>) -> Result<Vec<Probed>, RecordError> {
    if probed.is_empty() {
        return Ok(probed);
    }
    for (key, value) in rows_of(maps.get("probe_rows")?)? {
        let read = Fields(&key).u32().and_then(|number| Some((number, row(&value)?)));
        if let Some((number, row)) = read
            && let Some(of) = probed.get_mut(number as usize)
        {
            of.rows.push(row);
        }
    }
    let stacks = maps.get("probe_stacks")?;
    for (key, value) in rows_of(maps.get("probe_paths")?)? {
        let mut key = Fields(&key);
        let (Some(number), Some(stack), Some(calls)) = (key.u32(), key.u32(), Fields(&value).u64()) else {
            continue;
        };
        if let Some(of) = probed.get_mut(number as usize) {
            of.paths.push((addresses(stacks, stack)?, calls));
        }
    }
    let lost = maps.get("probe_lost")?;
    for (number, of) in probed.iter_mut().enumerate() {
        let value = lost.lookup(&(number as u32).to_ne_bytes(), MapFlags::ANY).map_err(unreadable)?;
        let value = value.unwrap_or_default();
        let mut fields = Fields(&value);
        of.lost_calls = fields.u64().unwrap_or_default();
        of.lost_stacks = fields.u64().unwrap_or_default();
        of.rows.sort_by_key(|(pid, row)| (Reverse(row.calls), *pid, row.key));
        of.paths.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        of.lost_stacks += of.paths.iter().skip(MOST_PATHS).map(|(_, calls)| calls).sum::<u64>();
        of.paths.truncate(MOST_PATHS);
    }
    Ok(probed)
}

fn unreadable(source: libbpf_rs::Error) -> RecordError {
    RecordError::Load { program: PROBES.name, step: "read what was counted", source }
}

/// A key and its value, as bytes.
type Row = (Vec<u8>, Vec<u8>);

/// The rows of a map that nobody writes to.
fn rows_of(map: &MapHandle) -> Result<Vec<Row>, RecordError> {
    let mut rows = Vec::new();
    for key in map.keys() {
        if let Some(value) = map.lookup(&key, MapFlags::ANY).map_err(unreadable)? {
            rows.push((key, value));
        }
    }
    Ok(rows)
}

/// Reads `struct probe_row`: the process and its counts; `None` where it is not whole.
fn row(value: &[u8]) -> Option<(u32, CountRow)> {
    let mut fields = Fields(value);
    let row = CountRow::read(&mut fields)?;
    Some((fields.u32()?, row))
}

/// The addresses of a stack, innermost first.
fn addresses(stacks: &MapHandle, number: u32) -> Result<Vec<u64>, RecordError> {
    let value = stacks.lookup(&number.to_ne_bytes(), MapFlags::ANY).map_err(unreadable)?.unwrap_or_default();
    let mut fields = Fields(&value);
    Ok(std::iter::from_fn(|| fields.u64()).take_while(|address| *address != 0).collect())
}
