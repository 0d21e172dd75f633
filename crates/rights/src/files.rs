//! Landlock: which files may be written.

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
    let status = ruleset(outputs).map_err(|error| error.to_string())?;
    match (status.landlock, status.ruleset) {
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
