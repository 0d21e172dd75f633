//! The compiled BPF programs below `crates/record/bpf`: makes them from their sources, and checks that they fit them.
//!
//! They are committed so that a build needs no clang. `SHA256SUMS` beside them names each source and object, and the compiler.

use anyhow::{Context, Result, bail, ensure};
use libbpf_sys::API_HEADERS;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the objects are, from the crate's folder.
const OBJECTS: &str = "bpf";
/// The manifest, beside the objects.
const SUMS: &str = "SHA256SUMS";
/// Where the sources are, from the crate's folder.
const SOURCES: &[&str] = &["src/bpf", "src/programs"];
/// The headers of libbpf that the programs include, with those that these include.
const HEADERS: &[&str] = &["bpf_core_read.h", "bpf_helper_defs.h", "bpf_helpers.h", "bpf_tracing.h"];
/// What clang is asked for: BTF (`-g`), no instruction that a kernel of 5.8 refuses, and no path of this machine in the object.
const FLAGS: &[&str] = &[
    "-target",
    "bpf",
    "-mcpu=v3",
    "-g",
    "-O2",
    "-Wall",
    "-Werror",
    "-fno-stack-protector",
    "-fdebug-compilation-dir=.",
    "-D__TARGET_ARCH_x86",
    "-Ilibbpf",
];
/// The manifest's line with the compiler begins so.
const CLANG: &str = "# clang ";
/// The manifest's line with the flags begins so.
const FLAGS_LINE: &str = "# flags ";

/// Compiles all programs and writes the objects and the manifest.
pub(crate) fn compile(root: &Path) -> Result<()> {
    let house = root.join("crates/record");
    let version = clang_version().context(
        "compiling the BPF programs takes clang: scripts/setup bpf. A build does without: it takes the objects in crates/record/bpf",
    )?;
    let made = Layout::new(&house)?;
    for name in programs(&house)? {
        made.object(&name)?;
    }
    let objects = house.join(OBJECTS);
    fs::create_dir_all(&objects)?;
    for stale in super::files_below(&objects, "o")? {
        fs::remove_file(stale)?;
    }
    for name in programs(&house)? {
        fs::copy(made.root.path().join(object_name(&name)), objects.join(object_name(&name)))?;
    }
    let sums = made.sums(&version)?;
    fs::write(objects.join(SUMS), sums)?;
    println!("bpf: compiled {} programs by clang {version}", programs(&house)?.len());
    Ok(())
}

/// Whether the manifest fits the sources, libbpf's headers, the flags and the objects. Needs no clang.
pub(crate) fn check_manifest(root: &Path) -> Result<()> {
    let house = root.join("crates/record");
    let kept = fs::read_to_string(house.join(OBJECTS).join(SUMS)).context("crates/record/bpf/SHA256SUMS")?;
    let version = kept_version(&kept)?;
    let made = Layout::new(&house)?;
    for object in super::files_below(&house.join(OBJECTS), "o")? {
        let name = object.file_name().context("a file has a name")?;
        fs::copy(&object, made.root.path().join(name))?;
    }
    let now = made.sums(version)?;
    let kept: BTreeSet<&str> = kept.lines().collect();
    let now: BTreeSet<&str> = now.lines().collect();
    let wrong: Vec<String> = kept.symmetric_difference(&now).map(|line| format!("    {line}")).collect();
    ensure!(
        wrong.is_empty(),
        "the BPF objects do not fit their sources: run `cargo xtask bpf` and commit crates/record/bpf. Lines that differ:\n{}",
        wrong.join("\n")
    );
    println!("bpf: the objects fit their sources");
    Ok(())
}

/// What [`check_bytes`] found.
pub(crate) enum Bytes {
    /// Recompiling makes the same objects.
    Same,
    /// Why it was not tried.
    Skipped(String),
}

/// Whether compiling again makes the same bytes. Other versions of clang make others, so it takes the same one.
pub(crate) fn check_bytes(root: &Path) -> Result<Bytes> {
    let house = root.join("crates/record");
    let kept = fs::read_to_string(house.join(OBJECTS).join(SUMS)).context("crates/record/bpf/SHA256SUMS")?;
    let wanted = kept_version(&kept)?;
    match clang_version() {
        Ok(version) if version == wanted => {}
        Ok(version) => return Ok(Bytes::Skipped(format!("clang {wanted} made them, here is {version}"))),
        Err(_) => return Ok(Bytes::Skipped(format!("clang {wanted} made them, here is none"))),
    }
    let made = Layout::new(&house)?;
    let mut wrong = Vec::new();
    for name in programs(&house)? {
        if fs::read(made.object(&name)?)? != fs::read(house.join(OBJECTS).join(object_name(&name)))? {
            wrong.push(object_name(&name));
        }
    }
    ensure!(
        wrong.is_empty(),
        "compiling again makes other bytes of {}: run `cargo xtask bpf`",
        wrong.join(", ")
    );
    Ok(Bytes::Same)
}

/// A folder in which the sources and libbpf's headers stand at the same relative paths on every machine: the paths are kept
/// in the objects, for the kernel's verifier to quote lines of the source.
struct Layout {
    root: tempfile::TempDir,
}

impl Layout {
    fn new(house: &Path) -> Result<Layout> {
        let root = tempfile::tempdir()?;
        std::os::unix::fs::symlink(house.join("src").canonicalize()?, root.path().join("src"))?;
        let headers = root.path().join("libbpf/bpf");
        fs::create_dir_all(&headers)?;
        for (name, text) in API_HEADERS {
            fs::write(headers.join(name), text)?;
        }
        Ok(Layout { root })
    }

    /// Compiles that program.
    fn object(&self, name: &str) -> Result<PathBuf> {
        let whole = self.root.path().join(format!("{name}.whole.o"));
        let object = self.root.path().join(object_name(name));
        let mut clang = Command::new("clang");
        clang.args(FLAGS).arg("-c").arg(format!("src/programs/{name}/{name}.bpf.c")).arg("-o").arg(&whole);
        let output = clang.current_dir(self.root.path()).output().context("clang")?;
        if !output.status.success() {
            bail!("the BPF program {name} does not compile:\n{}", String::from_utf8_lossy(&output.stderr));
        }
        // libbpf's linker keeps what the kernel reads and leaves DWARF out.
        let mut linker = libbpf_rs::Linker::new(&object).context("libbpf's linker")?;
        linker.add_file(&whole).context("libbpf's linker")?;
        linker.link().context("libbpf's linker")?;
        Ok(object)
    }

    /// The manifest of what is here.
    fn sums(&self, version: &str) -> Result<String> {
        let mut files: Vec<String> = HEADERS.iter().map(|name| format!("libbpf/bpf/{name}")).collect();
        for folder in SOURCES {
            for extension in ["c", "h"] {
                for path in super::files_below(&self.root.path().join(folder), extension)? {
                    files.push(path.strip_prefix(self.root.path())?.display().to_string());
                }
            }
        }
        for entry in fs::read_dir(self.root.path())? {
            let name = entry?.file_name().into_string().unwrap_or_default();
            if name.ends_with(".bpf.o") {
                files.push(name);
            }
        }
        files.sort();
        let output = Command::new("sha256sum").args(&files).current_dir(self.root.path()).output();
        let output = output.context("sha256sum (of coreutils)")?;
        ensure!(output.status.success(), "sha256sum: {}", String::from_utf8_lossy(&output.stderr));
        let sums = String::from_utf8(output.stdout)?;
        Ok(format!(
            "# Written by `cargo xtask bpf`: the sources below crates/record, libbpf's headers, and the objects made of them.\n\
             {CLANG}{version}\n{FLAGS_LINE}{}\n{sums}",
            FLAGS.join(" ")
        ))
    }
}

/// The names of the programs: each folder below `src/programs`.
fn programs(house: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(house.join("src/programs"))? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_string();
        if path.join(format!("{name}.bpf.c")).exists() {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

fn object_name(program: &str) -> String {
    format!("{program}.bpf.o")
}

/// The version that `clang` says, as "14.0.6".
fn clang_version() -> Result<String> {
    let output = Command::new("clang").arg("--version").output().context("clang is not there")?;
    let said = String::from_utf8_lossy(&output.stdout);
    let words = said.split_whitespace().skip_while(|word| *word != "version").nth(1);
    let version = words.context("clang --version names no version")?;
    // A distribution appends its own: "14.0.6-12".
    Ok(version.split(['-', '+', '~']).next().unwrap_or(version).to_string())
}

/// The compiler that the manifest names.
fn kept_version(manifest: &str) -> Result<&str> {
    let line = manifest.lines().find_map(|line| line.strip_prefix(CLANG));
    line.context("crates/record/bpf/SHA256SUMS names no clang")
}
