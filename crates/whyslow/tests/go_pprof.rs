//! Our tables beside those of `go tool pprof`: every pprof capture and the profiles that a Go program writes while the test
//! runs, through every view and option, text by text.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Captures in pprof's protobuf format that real programs wrote.
const CAPTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/captures/pprof");
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

/// `go tool pprof`, built, with the profiles of the program in a directory; `None` where there is no Go.
struct Go {
    directory: TempDir,
    pprof: PathBuf,
}

impl Go {
    fn new() -> Option<Go> {
        let directory = TempDir::new().expect("a directory");
        let pprof = directory.path().join("pprof");
        let go = |args: &[&str]| {
            let mut command = Command::new("go");
            command.args(args).env("GOFLAGS", "-mod=mod").current_dir(directory.path());
            command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
        };
        if !go(&["version"]) {
            println!("skipped: there is no `go`, whose pprof is the measure");
            return None;
        }
        std::fs::copy(PROGRAM, directory.path().join("main.go")).expect("the program");
        std::fs::write(directory.path().join("go.mod"), "module profiled\ngo 1.24\n").expect("its go.mod");
        let path = directory.path().display().to_string();
        if !go(&["build", "-o", "pprof", "cmd/pprof"]) || !go(&["run", ".", &path]) {
            println!("skipped: `go` cannot build pprof or the program");
            return None;
        }
        Some(Go { directory, pprof })
    }

    fn made(&self) -> Vec<PathBuf> {
        profiles_in(self.directory.path())
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
                .current_dir(self.directory.path())
                .env("PPROF_TMPDIR", self.directory.path())
                .stdin(Stdio::null())
                .output()
                .expect("it runs");
            output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
        };
        let theirs = run(Command::new(&self.pprof).arg(view).args(&given).args(options).args(files));
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

#[test]
fn tables_are_those_of_go_tool_pprof() {
    let Some(go) = Go::new() else { return };
    let mut profiles = profiles_in(Path::new(CAPTURES));
    // The text format of before the protobuf, with a binary's name that ends like a profile's.
    profiles.retain(|path| !path.display().to_string().contains("waiwai-isucon3"));
    let captured = profiles.len();
    profiles.extend(go.made());
    assert!(go.made().len() >= 21, "the program wrote {} profiles", go.made().len());
    if captured == 0 {
        println!("skipped: the captures beside the checkout; what the program wrote is compared");
    }
    let mut wrong = Vec::new();
    let mut compared = 0;
    for path in &profiles {
        for asked in ASKED {
            let Some(both) = go.both(&[path], asked, &[]) else { continue };
            compared += 1;
            let found = difference(&both, asked, asked.contains("-files"));
            wrong.extend(found.map(|text| format!("{}: {text}", path.display())));
        }
    }
    assert!(wrong.is_empty(), "{} of {compared} differ:\n{}", wrong.len(), wrong.join("\n"));
    println!("{compared} tables of {} profiles are equal", profiles.len());
}

#[test]
fn sums_and_differences_are_those_of_go_tool_pprof() {
    let Some(go) = Go::new() else { return };
    let path = |name: &str| go.directory.path().join(format!("{name}.pprof"));
    let mut wrong = Vec::new();
    for kind in ["cpu", "heap", "allocs", "mutex", "block", "goroutine"] {
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
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
