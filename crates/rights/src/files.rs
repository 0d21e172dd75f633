//! Landlock: which files may be written.

use crate::Grants;
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// The newest that is asked for; of an older kernel's what it has.
const NEWEST: ABI = ABI::V10;
/// Links that are followed to what is not there yet, as the kernel does (path_resolution(7)).
const MOST_LINKS: usize = 40;

/// Lets this thread write nothing but `outputs`, run and connect to nothing. The version of the ABI that is in effect.
pub(super) fn restrict(outputs: &[&Path]) -> Result<i32, String> {
    told(&ruleset(outputs).map_err(|error| error.to_string())?)
}

/// Lets this thread read below `folders` only, beside what this program is made of, and write nothing. The version of the ABI that is
/// in effect.
pub(super) fn restrict_reading(folders: &[&Path]) -> Result<i32, String> {
    restrict_to(&Grants { reads: folders, ..Grants::default() })
}

/// Lets this thread do what is granted, beside what this program is made of. The version of the ABI that is in effect.
pub(super) fn restrict_to(grants: &Grants<'_>) -> Result<i32, String> {
    told(&granted(grants).map_err(|error| error.to_string())?)
}

fn told(status: &landlock::RestrictionStatus) -> Result<i32, String> {
    match (status.landlock, &status.ruleset) {
        (LandlockStatus::NotImplemented, _) => {
            Err("this kernel has none (Linux 5.13, CONFIG_SECURITY_LANDLOCK)".into())
        }
        (LandlockStatus::NotEnabled, _) => {
            Err("it is not among the kernel's security modules (lsm=landlock,… at boot)".into())
        }
        (_, RulesetStatus::NotEnforced) => Err("the kernel did not take it".into()),
        (LandlockStatus::Available { effective_abi, kernel_abi }, _) => {
            Ok(kernel_abi.unwrap_or(effective_abi as i32))
        }
    }
}

fn ruleset(outputs: &[&Path]) -> Result<landlock::RestrictionStatus, RulesetError> {
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_write(NEWEST) | AccessFs::Execute)?
        .handle_access(AccessNet::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?;
    for (place, access) in outputs.iter().filter_map(|path| place(path)) {
        // What cannot be opened cannot be written to either, which is told when that is tried.
        let Ok(opened) = PathFd::new(place) else { continue };
        rules = rules.add_rule(PathBeneath::new(opened, access))?;
    }
    rules.restrict_self()
}

/// What every program reads: where its libraries are, the time zones, nothing.
const COMMON: [&str; 4] = ["/etc/ld.so.cache", "/etc/localtime", "/usr/share/zoneinfo", "/dev/null"];

/// Where other programs have their libraries.
const LIBRARIES: [&str; 4] = ["/lib", "/lib64", "/usr/lib", "/usr/lib64"];

fn granted(grants: &Grants<'_>) -> Result<landlock::RestrictionStatus, RulesetError> {
    let mut net = AccessNet::from_all(NEWEST);
    if grants.listens {
        net.remove(AccessNet::BindTcp);
    }
    if grants.connects {
        // Names are asked for by datagrams, which later kernels hold too.
        net.remove(AccessNet::from_all(NEWEST) & !BitFlags::from(AccessNet::BindTcp));
    }
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?;
    if !net.is_empty() {
        rules = rules.handle_access(net)?;
    }
    let mut rules = rules.scope(Scope::from_all(NEWEST))?.create()?;
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let run = AccessFs::ReadFile | AccessFs::Execute;
    let write = read
        | AccessFs::WriteFile
        | AccessFs::Truncate
        | AccessFs::MakeReg
        | AccessFs::MakeDir
        | AccessFs::RemoveFile
        | AccessFs::RemoveDir;
    let all = |paths: &[&Path], access: BitFlags<AccessFs>| -> Vec<(PathBuf, BitFlags<AccessFs>)> {
        paths.iter().map(|path| (path.to_path_buf(), access)).collect()
    };
    let libraries: &[&str] = if grants.runs.is_empty() { &[] } else { &LIBRARIES };
    let common = COMMON.iter().map(|path| (PathBuf::from(path), read));
    // Where a program that is started reads nothing from and writes nothing to.
    let nothing = [(PathBuf::from("/dev/null"), read | AccessFs::WriteFile)];
    let nothing = nothing.into_iter().filter(|_| !grants.runs.is_empty());
    let libraries = libraries.iter().map(|path| (PathBuf::from(path), run));
    let found_by = [
        "/etc/resolv.conf",
        "/etc/hosts",
        "/etc/nsswitch.conf",
        "/etc/host.conf",
        "/etc/gai.conf",
        "/run/systemd/resolve",
    ];
    let found_by = found_by.into_iter().filter(|_| grants.connects).map(|path| (PathBuf::from(path), read));
    let own = own_files().into_iter().map(|path| (path, run));
    let given = [all(grants.reads, read), all(grants.writes, write), all(grants.runs, run)].concat();
    for (path, access) in common.chain(found_by).chain(nothing).chain(libraries).chain(own).chain(given) {
        // What is not there is not read.
        let Ok(opened) = PathFd::new(&path) else { continue };
        let access = if path.is_dir() { access } else { access & AccessFs::from_file(NEWEST) };
        rules = rules.add_rule(PathBeneath::new(opened, access))?;
    }
    rules.restrict_self()
}

/// The files that this program runs from: itself, its libraries, its loader. A child that is the same program needs these.
fn own_files() -> Vec<PathBuf> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    // Five fields, then the path, with its spaces.
    let path = |line: &str| {
        let at = line.find('/')?;
        Some(PathBuf::from(line.get(at..)?))
    };
    let mut files: Vec<PathBuf> = maps.lines().filter_map(path).collect();
    files.extend(std::env::current_exe());
    files.sort();
    files.dedup();
    files
}

/// Below what an output may be written: the folder in which it takes its place, or the device or pipe itself.
fn place(output: &Path) -> Option<(PathBuf, BitFlags<AccessFs>)> {
    let in_place = AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
    let mut path = output.to_path_buf();
    for _ in 0..MOST_LINKS {
        if let Ok(whole) = std::fs::canonicalize(&path) {
            let kind = std::fs::metadata(&whole).ok()?.file_type();
            if kind.is_char_device() || kind.is_block_device() || kind.is_fifo() {
                return Some((whole, in_place));
            }
            return Some((
                folder(&whole),
                AccessFs::WriteFile | AccessFs::Truncate | AccessFs::MakeReg | AccessFs::RemoveFile,
            ));
        }
        // A link to what is not there yet: it is made where the link leads.
        let Ok(leads) = std::fs::read_link(&path) else { break };
        path = folder(&path).join(leads);
    }
    Some((folder(&path), AccessFs::WriteFile | AccessFs::Truncate | AccessFs::MakeReg | AccessFs::RemoveFile))
}

fn folder(path: &Path) -> PathBuf {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_path_buf()
}
