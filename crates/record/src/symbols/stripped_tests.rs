//! Programs without their symbols: what other files and sections know of them is found again, and what is not theirs is not.

use super::elf::Outline;
use super::table::{MAX_ALL, Table};
use super::{Symbolizer, packed, plt, sources};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use whyslow_model::StackFrame;

const PROGRAM: &str = r#"
#include <stdio.h>
#include <unistd.h>
#include <vector>
template <class T> struct Store {
    __attribute__((noinline)) int keep(std::vector<T> const &all, int n) {
        volatile int sum = n;
        for (T one : all) sum = sum + one;
        return sum;
    }
};
static __attribute__((noinline)) int hidden(int n) { volatile int s = 0; for (int i = 0; i < n; i++) s = s + i; return s; }
int main() {
    Store<int> store;
    printf("%p %p\n", (void *)(&Store<int>::keep), (void *)hidden);
    fflush(stdout);
    char byte;
    if (read(0, &byte, 1) < 0) return 1;
    return store.keep({1, 2}, hidden(3));
}
"#;

/// A program with all its symbols, in a folder of its own.
struct Built {
    folder: tempfile::TempDir,
    program: PathBuf,
}

fn does(command: &mut Command) -> bool {
    command.stdin(Stdio::null()).status().is_ok_and(|status| status.success())
}

fn tool(name: &str, arguments: &[&dyn AsRef<std::ffi::OsStr>]) -> bool {
    let mut command = Command::new(name);
    does(command.args(arguments.iter().map(|argument| argument.as_ref())))
}

/// `None` (and a line saying so) where a tool is missing.
fn build(options: &[&str]) -> Option<Built> {
    for name in ["g++", "objcopy", "strip", "xz"] {
        if !does(Command::new(name).arg("--version").stdout(Stdio::null())) {
            println!("skipped: no {name}");
            return None;
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (source, program) = (folder.path().join("x.cc"), folder.path().join("x"));
    std::fs::write(&source, PROGRAM).expect("written");
    let usual = ["-g", "-O1", "-Wno-pmf-conversions", "-Wl,--build-id", "-o"];
    let built = does(Command::new("g++").args(options).args(usual).args([&program, &source]));
    assert!(built, "compiled");
    Some(Built { folder, program })
}

impl Built {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn outline(&self) -> Outline {
        Outline::read(&File::open(&self.program).expect("there")).expect("an ELF file")
    }

    /// Where its debug file is below a folder of debug files; its folder is made.
    fn by_build_id(&self, folder: &Path) -> PathBuf {
        let id = self.outline().build_id.expect("a build-id");
        let hex: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
        let path = folder.join(format!(".build-id/{}/{}.debug", &hex[..2], &hex[2..]));
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        path
    }

    fn keep_debug(&self, to: &Path) {
        assert!(tool("objcopy", &[&"--only-keep-debug", &self.program, &to]));
    }

    fn strip(&self) {
        assert!(tool("strip", &[&"--strip-all", &self.program]));
    }

    fn link(&self, to: &Path) {
        let link = format!("--add-gnu-debuglink={}", to.display());
        assert!(tool("objcopy", &[&link, &self.program]));
    }

    /// The frames of its two functions, `keep` and `hidden`, without what was inlined into them, in the running program.
    fn frames(&self, debug_dirs: &[PathBuf]) -> [StackFrame; 2] {
        frames_of(Command::new(&self.program), debug_dirs)
    }
}

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn frames_of(mut command: Command, debug_dirs: &[PathBuf]) -> [StackFrame; 2] {
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("started");
    let mut running = Running(child);
    let mut line = String::new();
    let mut output = BufReader::new(running.0.stdout.take().expect("its output is a pipe"));
    output.read_line(&mut line).expect("a line");
    let addresses: Vec<u64> = line
        .split_whitespace()
        .map(|word| u64::from_str_radix(word.trim_start_matches("0x"), 16).expect("an address"))
        .collect();
    let mut symbols = Symbolizer::with_debug_dirs(debug_dirs);
    assert!(symbols.remember(running.0.id()));
    // Symbols are asked for when the program has ended.
    running.0.stdin.take().expect("its input").write_all(b"\n").expect("told to end");
    let pid = running.0.id();
    running.0.wait().expect("it ends");
    [addresses[0], addresses[1]].map(|address| symbols.user(pid, &[address + 4]).pop().expect("a frame"))
}

fn names(frames: &[StackFrame; 2]) -> [Option<&str>; 2] {
    frames.each_ref().map(|frame| frame.function.as_deref())
}

const FOUND: [Option<&str>; 2] = [Some("Store<...>::keep"), Some("hidden")];
const NOTHING: [Option<&str>; 2] = [None, None];

fn has_lines(frames: &[StackFrame; 2]) -> bool {
    frames.iter().all(|frame| frame.place.as_ref().is_some_and(|place| place.contains("x.cc:")))
}

#[test]
fn a_debug_file_is_found_by_its_build_id() {
    let Some(built) = build(&[]) else { return };
    let frames = built.frames(&[]);
    assert!(names(&frames) == FOUND && has_lines(&frames), "its own: {frames:?}");
    let dirs = [built.path("debug")];
    let debug = built.by_build_id(&dirs[0]);
    built.keep_debug(&debug);
    built.strip();
    assert_eq!(names(&built.frames(&[])), NOTHING);
    let frames = built.frames(&dirs);
    assert!(names(&frames) == FOUND && has_lines(&frames), "{frames:?}");
    // Behind a link, as distributions have it, and one that anybody may write to.
    let elsewhere = built.path("elsewhere.debug");
    std::fs::rename(&debug, &elsewhere).expect("moved");
    std::os::unix::fs::symlink(&elsewhere, &debug).expect("linked");
    std::fs::set_permissions(&elsewhere, std::os::unix::fs::PermissionsExt::from_mode(0o666))
        .expect("opened");
    let frames = built.frames(&dirs);
    assert!(names(&frames) == FOUND && has_lines(&frames), "{frames:?}");
    // One without debug information still has names.
    assert!(tool("strip", &[&"--strip-debug", &elsewhere]));
    assert_eq!(names(&built.frames(&dirs)), FOUND);
    // Of another program, without anything, a FIFO.
    let other = build(&["-DOTHER", "-O2"]).expect("built before");
    other.keep_debug(&debug);
    assert_eq!(names(&built.frames(&dirs)), NOTHING);
    std::fs::write(&elsewhere, b"").expect("written");
    assert_eq!(names(&built.frames(&dirs)), NOTHING);
    std::fs::remove_file(&debug).expect("removed");
    assert!(tool("mkfifo", &[&debug]));
    assert_eq!(names(&built.frames(&dirs)), NOTHING);
}

#[test]
fn a_debug_file_is_found_by_its_link() {
    let Some(built) = build(&[]) else { return };
    let debug = built.path("x.debug");
    built.keep_debug(&debug);
    built.strip();
    built.link(&debug);
    let frames = built.frames(&[]);
    assert!(names(&frames) == FOUND && has_lines(&frames), "beside it: {frames:?}");
    std::fs::create_dir(built.path(".debug")).expect("made");
    std::fs::rename(&debug, built.path(".debug/x.debug")).expect("moved");
    assert_eq!(names(&built.frames(&[])), FOUND);
    // Below a named folder, by the path of the program.
    let dir = built.path("dir");
    let own = built.folder.path().strip_prefix("/").expect("absolute");
    std::fs::create_dir_all(dir.join(own)).expect("made");
    std::fs::rename(built.path(".debug/x.debug"), dir.join(own).join("x.debug")).expect("moved");
    assert_eq!(names(&built.frames(&[])), NOTHING);
    assert_eq!(names(&built.frames(std::slice::from_ref(&dir))), FOUND);
    // Another checksum: one byte more.
    std::fs::rename(dir.join(own).join("x.debug"), &debug).expect("moved");
    File::options().append(true).open(&debug).and_then(|mut file| file.write_all(b"x")).expect("written");
    assert_eq!(names(&built.frames(&[])), NOTHING);
    // What only blocks who opens it.
    std::fs::remove_file(&debug).expect("removed");
    assert!(tool("mkfifo", &[&debug]));
    assert_eq!(names(&built.frames(&[])), NOTHING);
}

#[test]
fn a_program_with_debug_information_and_a_link_keeps_its_names() {
    let Some(built) = build(&[]) else { return };
    let debug = built.path("x.debug");
    built.keep_debug(&debug);
    built.link(&debug);
    assert!(has_lines(&built.frames(&[])));
    std::fs::remove_file(&debug).expect("removed");
    assert!(tool("mkfifo", &[&debug]));
    assert_eq!(names(&built.frames(&[])), FOUND);
}

#[test]
fn a_root_of_its_own_has_its_own_debug_files() {
    let Some(built) = build(&["-static"]) else { return };
    let debug = built.by_build_id(&built.path("usr/lib/debug"));
    built.keep_debug(&debug);
    built.strip();
    let mut command = Command::new("chroot");
    command.arg(built.folder.path()).arg("/x");
    if !rustix::process::geteuid().is_root() {
        return println!("skipped: to change the root needs root");
    }
    let frames = frames_of(command, &[]);
    assert!(names(&frames) == FOUND && has_lines(&frames), "{frames:?}");
    assert_eq!(names(&built.frames(&[])), NOTHING);
}

/// Adds `.gnu_debugdata` to a stripped program.
fn add_debug_data(built: &Built, options: &[&str]) {
    let debug = built.path("mini");
    built.keep_debug(&debug);
    assert!(tool("strip", &[&"--strip-debug", &debug]));
    assert!(does(Command::new("xz").args(options).arg(&debug)));
    built.strip();
    let section = format!(".gnu_debugdata={}", built.path("mini.xz").display());
    assert!(tool("objcopy", &[&"--add-section", &section, &built.program]));
}

#[test]
fn symbols_are_found_in_a_compressed_section() {
    for options in [&["-9"][..], &["-0", "--check=crc32"], &["-6", "--check=sha256"]] {
        let Some(built) = build(&[]) else { return };
        add_debug_data(&built, options);
        assert_eq!(names(&built.frames(&[])), FOUND, "{options:?}");
    }
}

#[test]
fn a_compressed_section_is_bounded() {
    let Some(built) = build(&[]) else { return };
    add_debug_data(&built, &["-6"]);
    let outline = built.outline();
    let section = outline.section(".gnu_debugdata").expect("added").clone();
    let damaged = built.path("damaged");
    std::fs::copy(&built.program, &damaged).expect("copied");
    let file = File::options().read(true).write(true).open(&damaged).expect("opened");
    let mut whole = vec![0; section.size as usize];
    file.read_exact_at(&mut whole, section.offset).expect("read");
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..200 {
        let mut bytes = whole.clone();
        for _ in 0..random.usize(1..4) {
            let at = random.usize(..bytes.len());
            bytes[at] = random.u8(..);
        }
        file.write_all_at(&bytes, section.offset).expect("written");
        if let Some(unpacked) = packed::debug_data(&file, &outline, u64::MAX) {
            let _ = Outline::read(&unpacked).map(|outline| search(&unpacked, &outline));
        }
    }
    // 100 MiB of zeros.
    let zeros = built.path("zeros");
    File::create(&zeros).and_then(|file| file.set_len(100 << 20)).expect("made");
    assert!(tool("xz", &[&"-0", &zeros]));
    let section = format!(".gnu_debugdata={}", built.path("zeros.xz").display());
    assert!(tool("objcopy", &[&"--update-section", &section, &built.program]));
    let file = File::open(&built.program).expect("there");
    assert!(packed::debug_data(&file, &built.outline(), u64::MAX).is_none());
    assert_eq!(names(&built.frames(&[])), NOTHING);
}

/// Asks all that is ours for functions of a file.
fn search(file: &File, outline: &Outline) {
    let _ = packed::is_bounded(file, outline);
    let _ = outline.debug_link(file);
    for kind in [object::elf::SHT_SYMTAB, object::elf::SHT_DYNSYM] {
        let table = Table::read(file, outline, kind, MAX_ALL);
        for address in [0, 0x1000, 0x1100, 0x2000, u64::MAX] {
            let _ = table.find(address, outline, file);
        }
    }
    for section in outline.sections.iter().filter(|section| plt::is_stubs(section)) {
        let _ = plt::name(section.address, section, outline, file);
    }
}

#[test]
fn damaged_files_are_survived() {
    for options in [&[][..], &["-gz=zlib"]] {
        let Some(built) = build(options) else { return };
        let whole = std::fs::read(&built.program).expect("read");
        let headers = {
            let outline = built.outline();
            let table = outline.sections.iter().find(|section| section.name == ".symtab").expect("symbols");
            let end = outline.sections.iter().map(|section| section.offset + section.size).max();
            [0..64, 64..800, table.offset as usize..whole.len(), end.unwrap_or(0) as usize..whole.len()]
        };
        let damaged = built.path("damaged");
        let mut random = fastrand::Rng::with_seed(11);
        let began = std::time::Instant::now();
        for at in 0..400 {
            let mut bytes = whole.clone();
            let place = headers[at % headers.len()].clone();
            for _ in 0..random.usize(1..6) {
                let at = random.usize(place.clone());
                let any = random.u8(..);
                bytes[at] = *random.choice(&[0, 1, 0x7f, 0xff, any]).expect("some");
            }
            if at % 7 == 0 {
                bytes.truncate(random.usize(..bytes.len()));
            }
            std::fs::write(&damaged, bytes).expect("written");
            let file = File::open(&damaged).expect("there");
            let Some(outline) = Outline::read(&file) else { continue };
            search(&file, &outline);
            if at % 4 == 0 {
                let reader = Symbolizer::new().inner;
                for address in [0x1100, 0x1200, 0x2000] {
                    let _ = sources::read(&reader, &damaged, address);
                }
            }
        }
        assert!(began.elapsed().as_secs() < 60, "{:?}", began.elapsed());
    }
}

#[test]
fn a_compressed_section_of_debug_information_has_what_it_says() {
    let Some(built) = build(&["-gz=zlib"]) else { return };
    let outline = built.outline();
    assert!(has_lines(&built.frames(&[])));
    // Who writes to a program cannot run it.
    let file = File::options().read(true).write(true).open(&built.program).expect("opened");
    let Some(section) = outline.sections.iter().find(|section| section.is_compressed()) else {
        return println!("skipped: this compiler does not compress");
    };
    assert!(packed::is_bounded(&file, &outline));
    // `ch_size` (elf.h).
    for size in [1_u64, u64::MAX, 1 << 40] {
        file.write_all_at(&size.to_le_bytes(), section.offset + 8).expect("written");
        assert!(!packed::is_bounded(&file, &outline), "{size}");
    }
}

#[test]
fn stubs_have_the_names_of_what_they_lead_to() {
    if !cfg!(target_arch = "x86_64") {
        return println!("skipped: stubs are read on x86-64");
    }
    for options in [&["-fcf-protection=none", "-Wl,-z,lazy"][..], &["-fcf-protection=full"], &["-Wl,-z,now"]]
    {
        let Some(built) = build(options) else { return };
        built.strip();
        let (outline, file) = (built.outline(), File::open(&built.program).expect("there"));
        let sections = outline.sections.iter().filter(|section| plt::is_stubs(section));
        let slots = sections.flat_map(|section| {
            let begins = (section.address..section.address + section.size).step_by(8);
            begins.filter_map(|address| plt::name(address, section, &outline, &file)).collect::<Vec<_>>()
        });
        let slots: Vec<String> = slots.collect();
        assert!(slots.iter().any(|name| name == "read@plt"), "{options:?} {slots:?}");
    }
}
