//! The kernel's side of a recording: all programs loaded, attached, and taken away again.

use crate::bpf::layout::{self, CallSpecRow, Control, MAX_CALL_NUMBERS, Settings, spec_flag};
use crate::bpf::object::{self, SharedMaps, Sizes};
use crate::bpf::program::{Attach, By, Program};
use crate::bpf::timer;
use crate::error::RecordError;
use crate::spec::{CallSpec, MAX_PIECES, When};
use libbpf_rs::{Iter, Link, MapCore, MapFlags, Object};
use rustix::process::{Resource, getrlimit, setrlimit};
use std::io::Read;
use std::os::fd::IntoRawFd;

/// What was recorded of the calls (`enum` in `common.bpf.h`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u32)]
pub(crate) enum CallsMode {
    None = 0,
    Count = 1,
    Full = 2,
}

/// A way to have programs run at the beginning and the end of a function.
#[derive(Debug)]
pub(crate) struct Way {
    pub(crate) name: &'static str,
    pub(crate) begin: &'static str,
    pub(crate) end: &'static str,
    pub(crate) is_kprobe: bool,
}

/// All programs, loaded. Dropping it detaches and frees everything.
pub(crate) struct KernelSide {
    pub(crate) maps: SharedMaps,
    links: Vec<(&'static str, Link)>,
    objects: Vec<(&'static Program, Object)>,
    sample_hz: u32,
    /// Objects that are attached to a function of the kernel each.
    probes: Vec<Object>,
    /// What of the wanted is not recorded, and why.
    pub(crate) notes: Vec<String>,
}

impl KernelSide {
    /// Loads those of `programs` that `wanted` chooses; attaches nothing yet.
    pub(crate) fn load(
        programs: &[&'static Program],
        settings: &Settings,
        sizes: &Sizes,
        wanted: &dyn Fn(&Program) -> bool,
    ) -> Result<KernelSide, RecordError> {
        // libbpf's own remarks, the verifier's among them, are for who works on the programs.
        let told = std::env::var_os("WHYSLOW_LIBBPF_LOG").is_some();
        raise_open_files();
        libbpf_rs::set_print(told.then_some((libbpf_rs::PrintLevel::Info, |_, text| eprint!("{text}"))));
        let mut side = KernelSide {
            maps: SharedMaps::default(),
            links: Vec::new(),
            objects: Vec::new(),
            sample_hz: settings.sample_hz,
            probes: Vec::new(),
            notes: Vec::new(),
        };
        let mut settings = *settings;
        for program in programs.iter().filter(|program| wanted(program)) {
            let mut loaded = load_best(program, &settings, sizes, &mut side.maps);
            if loaded.is_err() && program.needed && settings.files_with_calls != 0 {
                // Where only files are refused, calls are recorded without them.
                settings.files_with_calls = 0;
                loaded = load_best(program, &settings, sizes, &mut side.maps);
            }
            match loaded {
                Ok(object) => side.objects.push((program, object)),
                Err(error) if program.needed => return Err(error),
                Err(error) => side.leave_out(program, &error),
            }
        }
        Ok(side)
    }

    fn leave_out(&mut self, program: &Program, error: &RecordError) {
        let error = error.to_string();
        // Without what to do next: a recording goes on.
        let why = error.lines().next().unwrap_or_default();
        self.notes.push(format!("not recorded: {} ({why})", program.summary));
    }

    /// The programs that are loaded.
    pub(crate) fn programs(&self) -> impl Iterator<Item = &'static Program> {
        self.objects.iter().map(|(program, _)| *program)
    }

    /// Fills the table of call specifications. `recorded` tells whether a call is to be recorded at all, `counted` whether
    /// it may be counted though it changes what later calls mean.
    pub(crate) fn set_specs(
        &self,
        spec_of: &dyn Fn(u16) -> Option<&'static CallSpec>,
        recorded: &dyn Fn(u16) -> bool,
        counted: &dyn Fn(u16) -> bool,
    ) -> Result<(), RecordError> {
        let map = self.maps.get("call_specs")?;
        for nr in 0..MAX_CALL_NUMBERS as u16 {
            let mut row = spec_of(nr).map_or(CallSpecRow { args: 6, ..CallSpecRow::default() }, spec_row);
            if nr == FUTEX {
                row.flags |= spec_flag::FUTEX;
            }
            if !recorded(nr) {
                row.flags |= spec_flag::SKIP;
            }
            if counted(nr) {
                row.flags &= !spec_flag::STATE;
            }
            map.update(&u32::from(nr).to_ne_bytes(), layout::bytes_of(&row), MapFlags::ANY)
                .map_err(|source| RecordError::Load { program: "calls", step: "specifications", source })?;
        }
        Ok(())
    }

    /// What is to be recorded from now on.
    pub(crate) fn control(&self, control: Control) -> Result<(), RecordError> {
        let map = self.maps.get("control")?;
        map.update(&0u32.to_ne_bytes(), layout::bytes_of(&control), MapFlags::ANY)
            .map_err(|source| RecordError::Load { program: "calls", step: "control", source })
    }

    /// Of the calls this is to be recorded from now on, and nothing else that may be given up.
    pub(crate) fn set_calls(&self, mode: CallsMode) -> Result<(), RecordError> {
        self.control(Control { calls: mode as u32, ..Control::default() })
    }

    /// Names what to watch (`1 << 32 | tid`, or a process), then walks over all threads and watches those.
    pub(crate) fn watch(&self, ids: &[u64]) -> Result<(), RecordError> {
        let map = self.maps.get("wanted")?;
        for id in ids {
            map.update(&id.to_ne_bytes(), &1u32.to_ne_bytes(), MapFlags::ANY)
                .map_err(|source| RecordError::Load { program: "tasks", step: "name the watched", source })?;
        }
        // A thread made while the walk is under way by one not yet reached may be missed: the second walk finds it.
        self.run("watch_wanted")?;
        self.run("watch_wanted")
    }

    /// Runs an iterator to its end.
    fn run(&self, function: &'static str) -> Result<(), RecordError> {
        let failed = |source| RecordError::Load { program: "tasks", step: "walk over threads", source };
        for (_, object) in &self.objects {
            let Some(program) = object.progs_mut().find(|program| program.name() == function) else {
                continue;
            };
            let link = program.attach_iter_with_opts(libbpf_rs::IterOpts::None).map_err(failed)?;
            let mut walk = Iter::new(&link).map_err(failed)?;
            let read = walk.read_to_end(&mut Vec::new());
            return read
                .map(drop)
                .map_err(|source| RecordError::Kernel { what: "walking over threads", source });
        }
        Err(RecordError::Internal(format!("no BPF program {function}")))
    }

    /// Attaches the programs of one object. Where one is refused, none of the object stays: an error where the object is
    /// needed, else a note.
    pub(crate) fn attach(&mut self, name: &str) -> Result<(), RecordError> {
        let Some(at) = self.objects.iter().position(|(program, _)| program.name == name) else {
            return Ok(());
        };
        let (program, object) = &self.objects[at];
        let program: &'static Program = program;
        match links(program, object, self.sample_hz) {
            Ok(links) => self.links.extend(links.into_iter().map(|link| (program.name, link))),
            Err(error) if program.needed => return Err(error),
            Err(error) => {
                self.objects.remove(at);
                self.leave_out(program, &error);
            }
        }
        Ok(())
    }

    /// Attaches all programs that are not attached yet.
    pub(crate) fn attach_rest(&mut self) -> Result<(), RecordError> {
        for program in self.programs().collect::<Vec<_>>() {
            if !self.links.iter().any(|(known, _)| *known == program.name) {
                self.attach(program.name)?;
            }
        }
        Ok(())
    }

    /// Loads `program` for a function of the kernel, and attaches `end` before `begin`, so that no end is seen without its
    /// beginning.
    pub(crate) fn probe(
        &mut self,
        program: &'static Program,
        settings: &Settings,
        sizes: &Sizes,
        function: &str,
        by: &Way,
    ) -> Result<(), RecordError> {
        let wanted = |name: &str| name == by.begin || name == by.end;
        let object = object::load(
            program.name,
            program.object,
            settings,
            sizes,
            &mut self.maps,
            &wanted,
            Some(function),
        )?;
        let failed = |source| RecordError::Load { program: program.name, step: "attach", source };
        // Of what is refused nothing stays.
        let mut links = Vec::new();
        for (name, is_end) in [(by.end, true), (by.begin, false)] {
            let Some(part) = object.progs_mut().find(|part| part.name() == name) else {
                return Err(RecordError::Internal(format!("no BPF program {name}")));
            };
            let link = if by.is_kprobe { part.attach_kprobe(is_end, function) } else { part.attach() };
            links.push((program.name, link.map_err(failed)?));
        }
        self.links.extend(links);
        self.probes.push(object);
        Ok(())
    }

    /// Looks at what the watched threads have already, for the programs that want to know.
    pub(crate) fn look_around(&mut self) {
        self.run_all(By::AtStart);
    }

    /// Tells what is under way, of a lasting recording whose window is cut; all goes on.
    pub(crate) fn tell_under_way(&mut self) {
        self.run_all(By::AtEnd);
    }

    /// Forgets which paths were told and which CPUs have only counted, since a new window begins.
    pub(crate) fn begin_window(&self) -> Result<(), RecordError> {
        let failed = |source| RecordError::Load { program: "calls", step: "begin a window", source };
        if let Ok(told) = self.maps.get("paths_told") {
            for key in told.keys().collect::<Vec<_>>() {
                // It may have made place meanwhile.
                let _ = told.delete(&key);
            }
        }
        let Ok(detail) = self.maps.get("call_detail") else { return Ok(()) };
        let zero = 0u32.to_ne_bytes();
        let rows = detail.lookup_percpu(&zero, MapFlags::ANY).map_err(failed)?.unwrap_or_default();
        let empty: Vec<Vec<u8>> = rows.iter().map(|row| vec![0; row.len()]).collect();
        detail.update_percpu(&zero, &empty, MapFlags::ANY).map_err(failed)
    }

    /// Ends what is recorded: only who is watched, and what is to be told at the end of it, is told still.
    pub(crate) fn detach_rest(&mut self) {
        self.links.retain(|(known, _)| *known == "tasks");
        self.run_all(By::AtEnd);
    }

    /// False for the choice of a group that was not taken.
    fn is_loaded(&self, function: &str) -> bool {
        let mut parts = self.objects.iter().flat_map(|(_, object)| object.progs_mut());
        parts.any(|part| part.autoload() && part.name() == function)
    }

    fn run_all(&mut self, by: By) {
        let functions = |program: &'static Program| {
            program.attach.iter().copied().flatten().filter(move |attach| attach.by == by)
        };
        for attach in self.programs().flat_map(functions).collect::<Vec<_>>() {
            if !self.is_loaded(attach.function) {
                continue;
            }
            if let Err(error) = self.run(attach.function) {
                let note = format!("{} did not run: {error}", attach.function);
                // Of a recording that goes on it is tried at each cut.
                if !self.notes.contains(&note) {
                    self.notes.push(note);
                }
            }
        }
    }

    /// Detaches the programs of one object.
    pub(crate) fn detach(&mut self, name: &str) {
        self.links.retain(|(known, _)| *known != name);
    }

    /// Stops watching everybody.
    pub(crate) fn unwatch_all(&self) -> Result<(), RecordError> {
        let map = self.maps.get("wanted")?;
        for id in map.keys().collect::<Vec<_>>() {
            let result = map.delete(&id);
            result.map_err(|source| RecordError::Load {
                program: "tasks",
                step: "forget the watched",
                source,
            })?;
        }
        self.run("forget_all")
    }

    /// Detaches all.
    pub(crate) fn end(&mut self) {
        self.links.clear();
    }
}

/// Attaches the functions of an object that are attached at all.
fn links(program: &'static Program, object: &Object, sample_hz: u32) -> Result<Vec<Link>, RecordError> {
    let failed = |source| RecordError::Load { program: program.name, step: "attach", source };
    let mut links = Vec::new();
    for part in object.progs_mut().filter(|part| part.autoload()) {
        let function = part.name();
        let way = program.attach.iter().copied().flatten().find(|attach| function == attach.function);
        match way.map(|attach| attach.by) {
            Some(By::Section) => links.push(part.attach().map_err(failed)?),
            Some(By::Timer) => {
                for event in timer::on_each_cpu(sample_hz)? {
                    // The link owns the event from here on.
                    links.push(part.attach_perf_event(event.into_raw_fd()).map_err(failed)?);
                }
            }
            Some(By::OnDemand | By::AtStart | By::AtEnd) | None => {}
        }
    }
    Ok(links)
}

/// Maps, programs, links and timers are a descriptor each, some of them a CPU: as many as we may have.
fn raise_open_files() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // Where it stays, the kernel tells when the descriptors run out.
    let _ = setrlimit(Resource::Nofile, limit);
}

/// futex(2) on x86-64 and on arm64 (asm-generic).
#[cfg(target_arch = "x86_64")]
const FUTEX: u16 = 202;
#[cfg(not(target_arch = "x86_64"))]
const FUTEX: u16 = 98;

fn spec_row(spec: &CallSpec) -> CallSpecRow {
    let mut row =
        CallSpecRow { args: spec.args, flags: u8::from(spec.state) * spec_flag::STATE, ..Default::default() };
    for (slot, piece) in row.piece.iter_mut().zip(spec.pieces.iter().take(MAX_PIECES)) {
        row.pieces += 1;
        if piece.when == When::Enter {
            row.flags |= spec_flag::ENTER;
        }
        *slot = layout::PieceSpec {
            arg: piece.arg,
            when: piece.when as u8,
            size: piece.size as u8,
            of: piece.of,
            scale: piece.scale,
            cap: piece.cap,
            payload: piece.payload.into(),
            pad: [0; 3],
        };
    }
    row
}

/// Loads an object with the first choice of each group; where the kernel refuses that, with the second.
fn load_best(
    program: &'static Program,
    settings: &Settings,
    sizes: &Sizes,
    maps: &mut SharedMaps,
) -> Result<Object, RecordError> {
    let choices = program.attach.iter().map(|group| group.len()).max().unwrap_or(1);
    let mut refused = None;
    for choice in 0..choices {
        let wanted = |function: &str| {
            program.attach.iter().any(|group| {
                let taken: Option<&Attach> = group.get(choice).or(group.last());
                taken.is_some_and(|attach| attach.function == function && !(attach.is_unneeded)(settings))
            })
        };
        match object::load(program.name, program.object, settings, sizes, maps, &wanted, None) {
            Ok(object) => return Ok(object),
            Err(error) => {
                refused.get_or_insert(error);
            }
        }
    }
    Err(refused.unwrap_or_else(|| RecordError::Internal(format!("{}: nothing to load", program.name))))
}
