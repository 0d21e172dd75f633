//! Our tables beside those of `go tool pprof`: every pprof capture and the profiles that a Go program of ours writes, once a day,
//! through every view and option, text by text.

use crate::captures::published;
use crate::common::skipped;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tempfile::TempDir;

const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/profiled.go");

/// What is compared on every profile: a view, a regular expression where it needs one, options.
const ASKED: &[&str] = &[
    "top",
    "top -cum",
    "top -nodecount=7",
    "top -files",
    "top -filefunctions",
    "top -lines",
    "top -addresses",
    "top -noinlines",
    "top -addresses -noinlines",
    "top -unit=ms",
    "top -unit=auto",
    "top -divide_by=3",
    "top -mean",
    "top -sample_index=0",
    "top -trim=false",
    "top -nodefraction=0.1",
    "top -focus=parse|serve",
    "top -ignore=runtime",
    "top -show_from=main",
    "top -relative_percentages -focus=runtime",
    "top -compact_labels",
    "top -tagfocus=kind=fib",
    "top -tagignore=parse",
    "top -tagfocus=fib,tf",
    "top -tagfocus=1kb:4kb",
    "top -tagroot=kind",
    "tree",
    "tree -nodecount=5",
    "tree -edgefraction=0.2 -nodecount=20",
    "tree -lines -noinlines",
    "tree -hide=runtime",
    "tree -show=main",
    "tree -prune_from=parse",
    "tree -tagleaf=tenant,kind",
    "tree -mean",
    "peek runtime",
    "peek . -cum",
    "list main",
    "list . -focus=runtime",
    "traces",
    "traces -lines",
    "traces -taghide=kind",
    "tags",
    "tags -tagshow=kind",
    "tags -unit=mb",
    "raw",
];

/// What is compared on pairs of profiles of one kind.
const ASKED_OF_PAIRS: &[&str] =
    &["top", "top -cum", "top -drop_negative", "tree", "peek .", "list main", "traces", "tags", "raw"];

/// How long the profiles of the Go program serve; what is compared shall not be the same for ever.
const FRESH: Duration = Duration::from_secs(24 * 3600);

/// `go tool pprof`, built, and a folder with the profiles that the program wrote.
struct Go {
    pprof: PathBuf,
    profiles: PathBuf,
    scratch: TempDir,
}

impl Go {
    /// Built once for all tests, which may be processes of their own; `None`, and said so, where there is no Go.
    fn prepared() -> Option<Go> {
        let Some(version) = output_of(Command::new("go").arg("version")) else {
            skipped("there is no `go`, whose pprof is the measure");
            return None;
        };
        let mut hasher = DefaultHasher::new();
        (version, std::fs::read(PROGRAM).expect("the program")).hash(&mut hasher);
        let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("go-pprof");
        let place = place.join(format!("{:016x}", hasher.finish()));
        std::fs::create_dir_all(&place).expect("a folder");
        let lock = File::create(place.join("lock")).expect("a file");
        lock.lock().expect("a lock");
        let pprof = place.join("pprof");
        if !pprof.exists() && !go(&place, &["build", "-o", "pprof.new", "cmd/pprof"]) {
            return None;
        }
        if !pprof.exists() {
            std::fs::rename(place.join("pprof.new"), &pprof).expect("renamed");
        }
        let profiles = fresh_profiles(&place)?;
        Some(Go { pprof, profiles, scratch: TempDir::new().expect("a directory") })
    }

    /// Both outputs for one question; `None` where both refuse it.
    fn both(&self, files: &[&Path], asked: &str, options: &[String]) -> Option<[String; 2]> {
        let words: Vec<&str> = asked.split(' ').collect();
        let is_option = |word: &&&str| word.starts_with('-');
        let given: Vec<&str> = words.iter().filter(is_option).copied().collect();
        let pattern = words[1..].iter().find(|word| !word.starts_with('-'));
        let view = match pattern {
            Some(pattern) => format!("-{}={pattern}", words[0]),
            None => format!("-{}", words[0]),
        };
        let run = |command: &mut Command| {
            let output = command
                .current_dir(&self.profiles)
                .env("PPROF_TMPDIR", self.scratch.path())
                .stdin(Stdio::null())
                .output()
                .expect("it runs");
            output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
        };
        let theirs = run(Command::new(&self.pprof).arg(view).args(&given).args(options).args(files));
        // pprof prints names as they are, line ends and all; we escape what a terminal would act upon (control_bytes.rs).
        let acts = |c: char| c != '\n' && c != '\t' && whyslow_model::visible::acts(c);
        if theirs.as_ref().is_some_and(|text| text.contains(acts)) {
            return None;
        }
        let ours = run(Command::new(env!("CARGO_BIN_EXE_whyslow"))
            .arg("profile")
            .args(files)
            .arg(words[0])
            .args(pattern)
            .args(&given)
            .args(options));
        match (theirs, ours) {
            (None, None) => None,
            (theirs, ours) => {
                let text = |side: Option<String>| side.unwrap_or_else(|| "refused".to_string());
                Some([text(theirs), text(ours)])
            }
        }
    }
}

fn output_of(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs `go` in a folder; false, and said so, where it cannot do that.
fn go(folder: &Path, args: &[&str]) -> bool {
    let mut command = Command::new("go");
    command.args(args).env("GOFLAGS", "-mod=mod").current_dir(folder).stdin(Stdio::null());
    let output = command.output().expect("go runs");
    if !output.status.success() {
        let told = String::from_utf8_lossy(&output.stderr);
        skipped(format!("go {}: {}", args.join(" "), told.trim().replace('\n', "; ")));
    }
    output.status.success()
}

/// The folder with the profiles that the program wrote lately, written now where there is none. The caller holds the lock.
fn fresh_profiles(place: &Path) -> Option<PathBuf> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock").as_secs();
    for folder in std::fs::read_dir(place).expect("the folder").flatten().map(|entry| entry.path()) {
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let made = name.strip_prefix("profiles-").and_then(|at| at.parse().ok());
        let Some(age) = made.and_then(|made| now.checked_sub(made)).map(Duration::from_secs) else {
            continue;
        };
        if age < FRESH && folder.join("complete").exists() {
            return Some(folder);
        }
        // A test that began a day ago reads it no longer.
        if age > 2 * FRESH {
            std::fs::remove_dir_all(&folder).expect("removed");
        }
    }
    let folder = place.join(format!("profiles-{now}"));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::copy(PROGRAM, folder.join("main.go")).expect("the program");
    std::fs::write(folder.join("go.mod"), "module profiled\ngo 1.24\n").expect("its go.mod");
    if !go(&folder, &["run", ".", &folder.display().to_string()]) {
        return None;
    }
    std::fs::write(folder.join("complete"), "").expect("a file");
    Some(folder)
}

fn profiles_in(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.contains('.') && !name.ends_with(".txt") && (name.ends_with(".pprof") || name.ends_with(".gz"))
    });
    paths.sort();
    paths
}

/// Where pprof has no source it says so and stops; we go on with the numbers. Neither is compared.
fn comparable(text: &str, asked: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(String::from).collect();
    if asked.starts_with("list") {
        let is_about_source =
            |line: &String| line.starts_with(" Error: ") || line.starts_with(" no source: ");
        if lines.iter().any(is_about_source) {
            lines.retain(|line| {
                line.starts_with("ROUTINE") || line.starts_with("Total") || line.ends_with("of Total")
            });
        }
    }
    lines
}

/// What differs between the two, or nothing. pprof's order of nodes of one printed name is that of a hash table, and so is
/// that of edges of weights 5 and -5.
fn difference(both: &[String; 2], asked: &str, any_order: bool) -> Option<String> {
    let [mut theirs, mut ours] = both.each_ref().map(|text| comparable(text, asked));
    if any_order {
        for lines in [&mut theirs, &mut ours] {
            lines.iter_mut().for_each(|line| *line = without_running_sum(line));
            lines.sort();
        }
    }
    if theirs == ours {
        return None;
    }
    let at = theirs.iter().zip(&ours).position(|(a, b)| a != b).unwrap_or(theirs.len().min(ours.len()));
    let line = |lines: &[String]| lines.get(at).cloned().unwrap_or_else(|| "nothing".to_string());
    Some(format!("{asked}: line {}:\n  theirs {}\n  ours   {}", at + 1, line(&theirs), line(&ours)))
}

/// A row of `top` without its third column, which hangs on the order of the rows.
fn without_running_sum(line: &str) -> String {
    let cells: Vec<&str> = line.split_whitespace().collect();
    match cells[..] {
        [flat, share, running, ref rest @ ..] if share.ends_with('%') && running.ends_with('%') => {
            format!("{flat} {share} {}", rest.join(" "))
        }
        _ => line.to_string(),
    }
}

/// Every question of every profile.
fn assert_equal_tables(go: &Go, profiles: &[PathBuf]) {
    let mut wrong = Vec::new();
    let mut compared = 0;
    for path in profiles {
        for asked in ASKED {
            let Some(both) = go.both(&[path], asked, &[]) else { continue };
            compared += 1;
            let found = difference(&both, asked, asked.contains("-files"));
            wrong.extend(found.map(|text| format!("{}: {text}", path.display())));
        }
    }
    assert!(wrong.is_empty(), "{} of {compared} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared >= 30 * profiles.len(), "only {compared} tables of {} profiles", profiles.len());
    println!("{compared} tables of {} profiles are equal", profiles.len());
}

/// Of the profiles that people published each fourth, from that on.
fn published_from(first: usize) {
    let Some(captures) = published() else { return };
    let Some(go) = Go::prepared() else { return };
    let mut profiles = profiles_in(&captures.join("pprof"));
    // The text format of before the protobuf, with a binary's name that ends like a profile's.
    profiles.retain(|path| !path.display().to_string().contains("waiwai-isucon3"));
    assert!(profiles.len() >= 16, "{} profiles", profiles.len());
    let own: Vec<PathBuf> = profiles.into_iter().skip(first).step_by(4).collect();
    assert_equal_tables(&go, &own);
}

#[test]
fn published_profiles_from_0() {
    published_from(0);
}

#[test]
fn published_profiles_from_1() {
    published_from(1);
}

#[test]
fn published_profiles_from_2() {
    published_from(2);
}

#[test]
fn published_profiles_from_3() {
    published_from(3);
}

#[test]
fn the_program_writes_all_its_profiles() {
    let Some(go) = Go::prepared() else { return };
    let made = profiles_in(&go.profiles);
    assert_eq!(made.len(), 21, "{made:?}");
}

/// The three profiles of a kind that the program wrote.
fn assert_kind(kind: &str) {
    let Some(go) = Go::prepared() else { return };
    let profiles: Vec<PathBuf> =
        (1..=3).map(|round| go.profiles.join(format!("{kind}{round}.pprof"))).collect();
    assert_equal_tables(&go, &profiles);
}

/// Sums and differences of two profiles of a kind.
fn assert_pair(kind: &str) {
    let Some(go) = Go::prepared() else { return };
    let path = |name: &str| go.profiles.join(format!("{name}.pprof"));
    let mut wrong = Vec::new();
    let (before, after) = (path(&format!("{kind}1")), path(&format!("{kind}3")));
    for asked in ASKED_OF_PAIRS {
        let base = |option: &str| format!("-{option}={}", before.display());
        let ways: [(&[&Path], Vec<String>); 4] = [
            (&[&after], vec![base("diff_base")]),
            (&[&after], vec![base("base")]),
            (&[&after], vec![base("diff_base"), "-normalize".to_string()]),
            (&[&before, &after], vec![]),
        ];
        for (files, options) in ways {
            let Some(both) = go.both(files, asked, &options) else { continue };
            let unordered = ["tree", "peek", "tags"].iter().any(|view| asked.starts_with(view));
            let any_order = !options.is_empty() && unordered;
            let found = difference(&both, asked, any_order);
            wrong.extend(found.map(|text| format!("{kind} {options:?}: {text}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A test a kind of profile: they run beside each other.
macro_rules! a_test_a_kind {
    ($check:ident: $($kind:ident)*) => {
        $(#[test]
        fn $kind() {
            super::$check(stringify!($kind));
        })*
    };
}

mod tables_are_those_of_go_tool_pprof {
    a_test_a_kind!(assert_kind: cpu heap allocs mutex block goroutine threadcreate);
}

mod sums_and_differences_are_those_of_go_tool_pprof {
    a_test_a_kind!(assert_pair: cpu heap allocs mutex block goroutine);
}
