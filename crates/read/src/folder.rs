//! The files of a directory and the folders below it: a folder of traces, or a dump of a machine (a sosreport).

use std::path::{Path, PathBuf};

/// Files taken from one directory; `strace -ff` on a build makes some thousands, a sosreport ten thousand.
const MOST_FILES: usize = 20_000;
/// Names looked at.
const MOST_NAMES: usize = 1_000_000;
/// Folders below each other; sosreports have `proc/PID/net` and `sos_commands/NAME`.
const MOST_DEPTH: usize = 8;

/// The files in a directory and in its folders, by name. Hidden ones are passed over, and links to folders, and links to
/// files in the directory itself, which would be read twice. Of too many, empty ones go first. Beside them stands what was
/// passed over for being too many.
pub(crate) fn files_in(directory: &Path) -> Result<(Vec<PathBuf>, Option<String>), String> {
    let mut files = Vec::new();
    let root = std::fs::canonicalize(directory).map_err(|error| error.to_string())?;
    // Folders to look into, and how deep they are.
    let mut folders = vec![(directory.to_path_buf(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if depth == 0 => return Err(error.to_string()),
            // What may not be read below is not missed.
            Err(_) => continue,
        };
        for entry in entries.filter_map(Result::ok) {
            if entry.file_name().to_string_lossy().starts_with('.') {
                continue;
            }
            let path = entry.path();
            let Ok(kind) = entry.file_type() else { continue };
            let wanted =
                if kind.is_symlink() { depth == 0 && leads_out(&path, &root) } else { kind.is_file() };
            if wanted {
                files.push(path);
                if files.len() > MOST_NAMES {
                    return Err(format!("more than {MOST_NAMES} files in this directory"));
                }
            } else if kind.is_dir() && depth < MOST_DEPTH {
                folders.push((path, depth + 1));
            }
        }
    }
    if files.is_empty() {
        return Err("no files in this directory".to_string());
    }
    files.sort();
    let found = files.len();
    if found > MOST_FILES {
        files.retain(|file| std::fs::metadata(file).is_ok_and(|about| about.len() > 0));
    }
    let empty = found - files.len();
    let surplus = files.len().saturating_sub(MOST_FILES);
    files.truncate(MOST_FILES);
    let passed_over = (empty + surplus > 0).then(|| {
        format!(
            "{found} files, of which {MOST_FILES} are looked at: {empty} empty ones and {surplus} others are passed over"
        )
    });
    Ok((files, passed_over))
}

/// True for a link to a file that is not in the directory itself.
fn leads_out(link: &Path, root: &Path) -> bool {
    std::fs::canonicalize(link).is_ok_and(|target| target.is_file() && !target.starts_with(root))
}
