//! Loading one program's object: settings in, shared maps in place of its own, and what cannot be loaded told.

use crate::bpf::layout::{self, Settings};
use crate::error::RecordError;
use libbpf_rs::{MapCore, MapHandle, Object, ObjectBuilder, ProgramType};
use std::os::fd::{AsFd, BorrowedFd};

/// The maps that all objects share; the first object that is loaded makes them.
#[derive(Default)]
pub(crate) struct SharedMaps {
    maps: Vec<(String, MapHandle)>,
}

/// Sizes of the maps that depend on the machine and the options.
pub(crate) struct Sizes {
    pub(crate) cpus: u32,
    /// Bytes of a CPU's ring of calls: a power of two.
    pub(crate) call_ring: u32,
    /// Bytes of a CPU's ring of the scheduler: a power of two.
    pub(crate) sched_ring: u32,
    /// Bytes of the ring for rare records: a power of two.
    pub(crate) rare_ring: u32,
    /// Thread ids are below this.
    pub(crate) tids: u32,
    /// Threads that can be watched at a time, and one.
    pub(crate) slots: u32,
}

/// Watched threads at a time, at most: 8 MiB of what is known of them.
const MAX_SLOTS: u32 = 1 << 16;
/// `PID_MAX_LIMIT` of 64-bit machines (include/linux/threads.h): 16 MiB of slot numbers.
const MAX_TIDS: u32 = 4 << 20;

/// Of the object of calls, what is for files alone: where it has nothing to do with them, another object makes it, or nobody.
const FILE_MAPS: [&str; 3] = ["file_rows", "paths_told", "path_room"];

impl Sizes {
    /// For rings of so many bytes a CPU, and for the thread ids that this machine gives out now (proc(5), pid_max).
    pub(crate) fn of(cpus: u32, call_ring: u32, sched_ring: u32, rare_ring: u32) -> Sizes {
        let told = std::fs::read_to_string("/proc/sys/kernel/pid_max").ok();
        let tids = told.and_then(|text| text.trim().parse().ok()).unwrap_or(MAX_TIDS).clamp(2, MAX_TIDS);
        Sizes { cpus, call_ring, sched_ring, rare_ring, tids, slots: tids.min(MAX_SLOTS) }
    }
}

impl SharedMaps {
    /// The map of that name.
    ///
    /// # Errors
    /// If no object that has it was loaded: a slip of ours.
    pub(crate) fn get(&self, name: &str) -> Result<&MapHandle, RecordError> {
        let found = self.maps.iter().find(|(known, _)| known == name);
        found.map(|(_, map)| map).ok_or_else(|| RecordError::Internal(format!("no BPF map {name}")))
    }
}

/// Loads an object with only the programs that `wanted` names. `function` is the kernel's function that its programs at
/// functions (fentry, fexit) are for.
pub(crate) fn load(
    name: &'static str,
    bytes: &[u8],
    settings: &Settings,
    sizes: &Sizes,
    shared: &mut SharedMaps,
    wanted: &dyn Fn(&str) -> bool,
    function: Option<&str>,
) -> Result<Object, RecordError> {
    let failed = |step: &'static str| move |source| RecordError::Load { program: name, step, source };
    let is_left_out =
        |map: &str| name == "calls" && settings.files_with_calls == 0 && FILE_MAPS.contains(&map);
    let mut object = ObjectBuilder::default()
        .name(name)
        .and_then(|builder| builder.open_memory(bytes))
        .map_err(failed("open"))?;
    for mut map in object.maps_mut() {
        let map_name = map.name().to_string_lossy().into_owned();
        if map_name.ends_with(".rodata") {
            let value = layout::bytes_of(settings);
            let room = map.initial_value_mut().and_then(|room| room.get_mut(..value.len()));
            let room =
                room.ok_or_else(|| RecordError::Internal(format!("{name}: its settings have another size")))?;
            room.copy_from_slice(value);
            continue;
        }
        if let Some((_, known)) = shared.maps.iter().find(|(known, _)| *known == map_name) {
            map.reuse_fd(known.as_fd()).map_err(failed("share a map"))?;
            continue;
        }
        if is_left_out(&map_name) {
            map.set_autocreate(false).map_err(failed("leave out a map"))?;
            continue;
        }
        let result = match map_name.as_str() {
            "call_ring" => {
                map.set_max_entries(sizes.cpus).and_then(|()| map.set_value_size(ring_value(sizes.call_ring)))
            }
            "sched_ring" => map
                .set_max_entries(sizes.cpus)
                .and_then(|()| map.set_value_size(ring_value(sizes.sched_ring))),
            "call_heads" | "sched_heads" | "call_counts" | "file_rows" | "meanwhile_rows" => {
                map.set_max_entries(sizes.cpus)
            }
            "slots" => map.set_value_size(sizes.tids * layout::SLOT_BYTES as u32),
            "states" => map.set_max_entries(sizes.slots),
            "rare_ring" => map.set_max_entries(sizes.rare_ring),
            _ => Ok(()),
        };
        result.map_err(failed("size a map"))?;
    }
    for mut program in object.progs_mut() {
        let keep = wanted(&program.name().to_string_lossy());
        program.set_autoload(keep);
        if let Some(function) = function.filter(|_| keep && program.prog_type() == ProgramType::Tracing) {
            program.set_attach_target(0, Some(function.to_string())).map_err(failed("find the function"))?;
        }
    }
    let object = object.load().map_err(failed("load"))?;
    for map in object.maps() {
        let map_name = map.name().to_string_lossy().into_owned();
        if is_left_out(&map_name)
            || map_name.contains(".rodata")
            || shared.maps.iter().any(|(known, _)| *known == map_name)
        {
            continue;
        }
        let handle = MapHandle::try_from(&map).map_err(failed("keep a map"))?;
        shared.maps.push((map_name, handle));
    }
    Ok(object)
}

/// A CPU's ring has room for one record behind its end.
fn ring_value(ring: u32) -> u32 {
    ring + layout::MAX_RECORD as u32
}

/// Where ring `cpu` begins in the mapped array.
pub(crate) fn ring_stride(ring: u32) -> usize {
    // The kernel rounds each element up to 8 bytes (kernel/bpf/arraymap.c); ours is a multiple.
    ring_value(ring) as usize
}

/// A map's descriptor.
pub(crate) fn fd(map: &MapHandle) -> BorrowedFd<'_> {
    map.as_fd()
}
