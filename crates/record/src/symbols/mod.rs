//! Addresses to functions: of user code by the files that a process has mapped and by perf maps of its JIT, of the
//! kernel by `/proc/kallsyms`.
//!
//! Mappings are read early ([`Symbolizer::remember`]) and the files behind them held open, so that addresses of a
//! process that has ended, of a file that was removed, and of another mount namespace are found all the same.

pub mod any_file;
mod elf;
mod guard;
mod mappings;
mod methods;
mod names;
mod packed;
mod perf_map;
mod plt;
mod separate;
mod sources;
#[cfg(test)]
mod stripped_tests;
mod table;
#[cfg(test)]
mod tests;

use crate::bpf::unwinding::{FrameRecord, is_language_frame};
use blazesym::MaybeDefault;
use blazesym::symbolize::source::{Kernel, Source};
use blazesym::symbolize::{CodeInfo, Input, Sym, Symbolized};
use mappings::{FileId, Files, Mapped, Mappings};
use perf_map::{MOST_MEMORY, PerfMap};
use sources::Sources;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use whyslow_model::{LANGUAGES, StackFrame, Tid};
use whyslow_unwind::Frames;

/// Frames kept by file and offset, and of the kernel. Past this the cache begins anew.
const MAX_CACHED: usize = 1 << 17;
/// Processes whose mappings are remembered at most; the oldest go first.
const MAX_PROCESSES: usize = 4096;
/// Processes whose perf map is remarked upon.
const MAX_REMARKS: usize = 8;
/// The mappings of a living process are read again for an address that is in none, at most so often.
const REREAD: Duration = Duration::from_millis(50);

/// The build-id of a program or library; `None` where it has none, or is no ELF file.
pub fn build_id(path: &std::path::Path) -> Option<Vec<u8>> {
    elf::Outline::read(&std::fs::File::open(path).ok()?)?.build_id
}

/// Finds the functions behind addresses. Symbols are read from a file when its first address comes, and kept.
pub struct Symbolizer {
    inner: blazesym::symbolize::Symbolizer,
    kernel: Source<'static>,
    processes: HashMap<Tid, Process>,
    /// Counts [`Symbolizer::remember`]s, to know the oldest.
    clock: u64,
    files: Files,
    sources: Sources,
    user_cache: HashMap<(FileId, u64), Vec<StackFrame>>,
    kernel_cache: HashMap<u64, Vec<StackFrame>>,
    /// Frames of languages, by what stands for their address.
    language: HashMap<u64, StackFrame>,
    /// Why perf maps are not used, by process.
    remarks: BTreeMap<Tid, String>,
    /// Nothing of this machine is looked at.
    blind: bool,
}

#[derive(Debug)]
struct Process {
    mappings: Mappings,
    perf_map: PerfMap,
    read_at: Instant,
    order: u64,
}

impl std::fmt::Debug for Symbolizer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Symbolizer").field("processes", &self.processes.len()).finish_non_exhaustive()
    }
}

impl Default for Symbolizer {
    fn default() -> Self {
        Symbolizer::new()
    }
}

impl Symbolizer {
    /// One that knows no process yet.
    pub fn new() -> Symbolizer {
        Symbolizer::with_debug_dirs(&[])
    }

    /// One that looks for debug files in `folders` first.
    pub fn with_debug_dirs(folders: &[PathBuf]) -> Symbolizer {
        let mut kernel = Kernel { kallsyms: MaybeDefault::Default, debug_syms: false, ..Kernel::default() };
        // A kernel image with debug information may be there and takes seconds to read; names are all that is shown.
        kernel.vmlinux = MaybeDefault::None;
        Symbolizer {
            // Names are made readable here, for all frames alike.
            inner: blazesym::symbolize::Symbolizer::builder()
                .enable_auto_reload(false)
                .enable_demangling(false)
                .set_debug_dirs(Some([separate::SYSTEM]))
                .build(),
            kernel: Source::Kernel(kernel),
            processes: HashMap::new(),
            clock: 0,
            files: Files::default(),
            sources: Sources::new(folders),
            user_cache: HashMap::new(),
            kernel_cache: HashMap::new(),
            language: HashMap::new(),
            remarks: BTreeMap::new(),
            blind: false,
        }
    }

    /// One that looks at nothing of this machine, for what was recorded on another: no function has a name.
    pub fn blind() -> Symbolizer {
        Symbolizer { blind: true, ..Symbolizer::new() }
    }

    /// Reads what `pid` has mapped, for addresses that are asked about later. Call it at attach, for a new process, and
    /// once it executed another program. False where it has ended or may not be looked at: what was known is kept.
    pub fn remember(&mut self, pid: Tid) -> bool {
        if self.blind {
            return false;
        }
        let Some(mappings) = Mappings::read(pid, &mut self.files) else { return false };
        self.clock += 1;
        // The old map's memory is free before the new one takes its own.
        self.processes.remove(&pid);
        let perf_map = PerfMap::read(pid, self.memory_left(pid));
        self.remark(pid, perf_map.remark().map(str::to_string));
        let process = Process { mappings, perf_map, read_at: Instant::now(), order: self.clock };
        self.processes.insert(pid, process);
        if self.processes.len() > MAX_PROCESSES
            && let Some(oldest) =
                self.processes.iter().min_by_key(|(_, known)| known.order).map(|(pid, _)| *pid)
        {
            self.processes.remove(&oldest);
        }
        true
    }

    /// The frames of the user part of one stack of `pid`, addresses innermost first. All but the first are taken for
    /// return addresses: the call before it is what is looked up, while [`StackFrame::address`] stays as given. A function
    /// that was inlined is a frame of its own with the same address.
    pub fn user(&mut self, pid: Tid, addresses: &[u64]) -> Vec<StackFrame> {
        if !self.processes.contains_key(&pid) {
            self.remember(pid);
        }
        let mut frames = Vec::with_capacity(addresses.len());
        for (depth, address) in addresses.iter().enumerate() {
            if is_language_frame(*address) {
                frames.push(self.language.get(address).cloned().unwrap_or_default());
                continue;
            }
            let looked_up = address.saturating_sub(u64::from(depth > 0));
            if !self.knows(pid, looked_up) {
                self.read_again(pid);
            }
            self.user_address(pid, *address, looked_up, &mut frames);
        }
        frames
    }

    /// A frame of a language, for stacks that have its number in the place of an address.
    pub(crate) fn tell_frame(&mut self, told: &FrameRecord<'_>) {
        if self.language.len() >= Frames::MAX {
            return;
        }
        let place = match told.line {
            _ if told.file.is_empty() => None,
            0 => Some(told.file.to_string()),
            line => Some(format!("{}:{line}", told.file)),
        };
        let function = Some(told.function.to_string()).filter(|function| !function.is_empty());
        let module = LANGUAGES.iter().find(|module| module.trim_matches(['[', ']']) == told.language);
        let frame =
            StackFrame { address: 0, function, module: module.map(|module| module.to_string()), place };
        self.language.insert(told.address, frame);
    }

    /// The frames of the kernel part of one stack, addresses innermost first, as in [`Symbolizer::user`].
    pub fn kernel(&mut self, addresses: &[u64]) -> Vec<StackFrame> {
        let mut frames = Vec::with_capacity(addresses.len());
        for (depth, address) in addresses.iter().enumerate() {
            let looked_up = address.saturating_sub(u64::from(depth > 0));
            if self.kernel_cache.len() > MAX_CACHED {
                self.kernel_cache.clear();
            }
            let found = self.kernel_cache.entry(looked_up).or_insert_with(|| {
                let find = || self.inner.symbolize_single(&self.kernel, Input::AbsAddr(looked_up)).ok();
                frames_of(if self.blind { None } else { find() }, "[kernel]")
            });
            append(found, *address, &mut frames);
        }
        frames
    }

    fn knows(&self, pid: Tid, address: u64) -> bool {
        self.processes.get(&pid).is_some_and(|process| {
            let mapped = process.mappings.find(address);
            mapped.is_some_and(|mapped| {
                mapped.file.is_some() || mapped.is_named() || process.perf_map.find(address).is_some()
            })
        })
    }

    /// Bytes that the perf map of `pid` may take, beside those of all others.
    fn memory_left(&self, pid: Tid) -> usize {
        let others = self.processes.iter().filter(|(other, _)| **other != pid);
        MOST_MEMORY.saturating_sub(others.map(|(_, process)| process.perf_map.memory()).sum())
    }

    fn remark(&mut self, pid: Tid, remark: Option<String>) {
        if let Some(remark) = remark
            && (self.remarks.len() < MAX_REMARKS || self.remarks.contains_key(&pid))
        {
            self.remarks.insert(pid, remark);
        }
    }

    /// Which perf maps are not used, or not whole, and why; the first few.
    pub fn remarks(&self) -> impl Iterator<Item = &str> {
        self.remarks.values().map(String::as_str)
    }

    /// A library may have been loaded since, or code compiled.
    fn read_again(&mut self, pid: Tid) {
        let recent = self.processes.get(&pid).is_none_or(|process| process.read_at.elapsed() < REREAD);
        if recent {
            return;
        }
        // Another process may have its number by now, or another program run in it: what was known stays.
        let fresh = Mappings::read(pid, &mut self.files);
        let left = self.memory_left(pid);
        let mut remark = None;
        if let Some(process) = self.processes.get_mut(&pid) {
            process.read_at = Instant::now();
            if let Some(fresh) = fresh.filter(|fresh| fresh.extends(&process.mappings)) {
                process.mappings = fresh;
                process.perf_map.read_more(pid, left);
                remark = process.perf_map.remark().map(str::to_string);
            }
        }
        self.remark(pid, remark);
    }

    fn user_address(&mut self, pid: Tid, address: u64, looked_up: u64, frames: &mut Vec<StackFrame>) {
        let unknown = |module: Option<String>| StackFrame { address, module, ..StackFrame::default() };
        let Some(process) = self.processes.get(&pid) else { return frames.push(unknown(None)) };
        let Some(mapped) = process.mappings.find(looked_up) else { return frames.push(unknown(None)) };
        let Mapped { file: Some((file, offset)), name } = mapped else {
            let Some(symbol) = process.perf_map.find(looked_up) else {
                let module = if mapped.is_named() { mapped.name.to_string() } else { "[anon]".to_string() };
                return frames.push(unknown(Some(module)));
            };
            return frames.push(StackFrame { address, ..symbol });
        };
        if self.user_cache.len() > MAX_CACHED {
            self.user_cache.clear();
        }
        let found = self
            .user_cache
            .entry((file, offset))
            .or_insert_with(|| self.sources.frames(&self.inner, &self.files, (file, offset), name));
        append(found, address, frames);
    }
}

fn append(found: &[StackFrame], address: u64, frames: &mut Vec<StackFrame>) {
    frames.extend(found.iter().map(|frame| StackFrame { address, ..frame.clone() }));
}

/// The frames of one address, innermost first; their address is filled in where they are used.
fn frames_of(found: Option<Symbolized<'_>>, module: &str) -> Vec<StackFrame> {
    let frame = |function: Option<String>, code: Option<&CodeInfo<'_>>| StackFrame {
        address: 0,
        function,
        module: Some(module.to_string()),
        place: code.map(place),
    };
    let Some(Symbolized::Sym(symbol)) = found else { return vec![frame(None, None)] };
    let Sym { name, code_info, inlined, .. } = symbol;
    let readable = |name: &str| (!name.is_empty()).then(|| names::readable(name).into_owned());
    let mut frames: Vec<StackFrame> = inlined
        .iter()
        .rev()
        .map(|inlined| frame(readable(&inlined.name), inlined.code_info.as_ref()))
        .collect();
    frames.push(frame(readable(&name), code_info.as_deref()));
    frames
}

/// `src/main.c:12`.
fn place(code: &CodeInfo<'_>) -> String {
    let path = code.to_path().to_string_lossy().into_owned();
    match code.line {
        Some(line) => format!("{path}:{line}"),
        None => path,
    }
}
