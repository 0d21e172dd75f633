//! `scripts/setup` on machines that are not here: a PATH with one package manager that writes down what it is asked.

use anyhow::{Context, Result, ensure};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What the script itself calls, on every distribution.
const TOOLS: &[&str] = &["sh", "dirname", "sed", "cut", "sort", "tail", "awk", "tr", "find", "id", "env"];

/// A machine with that package manager and nothing else.
struct Machine {
    root: tempfile::TempDir,
}

impl Machine {
    fn new(manager: &str) -> Result<Machine> {
        let machine = Machine { root: tempfile::tempdir()? };
        let bin = machine.bin();
        fs::create_dir(&bin)?;
        for tool in TOOLS {
            let found = ["/usr/bin", "/bin"].iter().map(|folder| Path::new(folder).join(tool));
            let found = found.into_iter().find(|path| path.exists()).with_context(|| format!("no {tool}"))?;
            symlink(found, bin.join(tool))?;
        }
        machine
            .program(manager, &format!("echo {manager} \"$@\" >>{}/asked", machine.root.path().display()))?;
        // Rust is not the matter here.
        machine.program("rustup", "echo 99.0.0")?;
        machine.program("rustc", "echo rustc 99.0.0")?;
        Ok(machine)
    }

    fn bin(&self) -> PathBuf {
        self.root.path().join("bin")
    }

    /// A program that does this.
    fn program(&self, name: &str, does: &str) -> Result<()> {
        let path = self.bin().join(name);
        if path.exists() {
            fs::remove_file(&path)?;
        }
        fs::write(&path, format!("#!/bin/sh\n{does}\n"))?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        Ok(())
    }

    /// Runs the script there.
    fn setup(&self, words: &[&str]) -> Result<Output> {
        // The script adds this folder to its PATH: without it a machine that has the programs would find them.
        let script = fs::read_to_string(super::root().join("scripts/setup"))?.replace(":/usr/sbin", "");
        let folder = self.root.path().join("scripts");
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("setup"), script)?;
        fs::copy(super::root().join("rust-toolchain.toml"), self.root.path().join("rust-toolchain.toml"))?;
        let mut command = Command::new("/bin/sh");
        command.arg(folder.join("setup")).args(words);
        Ok(command.env_clear().env("PATH", self.bin()).env("HOME", self.root.path()).output()?)
    }

    /// The command that it says for that target.
    fn said(&self, target: &str) -> Result<String> {
        let output = self.setup(&["--print", target])?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?.trim_end().to_string())
    }
}

#[test]
fn each_package_manager_gets_its_own_names() -> Result<()> {
    let wanted = [
        (
            "apt-get",
            "apt-get update -qq && apt-get install -y -qq --no-install-recommends \
             gcc libc6-dev make pkg-config libelf-dev zlib1g-dev linux-libc-dev",
        ),
        (
            "dnf",
            "dnf install -y -q gcc glibc-devel make pkgconf-pkg-config elfutils-libelf-devel zlib-devel kernel-headers",
        ),
        ("pacman", "pacman -Sy --needed --noconfirm --quiet gcc make pkgconf libelf zlib linux-api-headers"),
        ("apk", "apk add --quiet --no-cache gcc musl-dev make pkgconf elfutils-dev zlib-dev linux-headers"),
    ];
    for (manager, command) in wanted {
        assert_eq!(Machine::new(manager)?.said("build")?, command, "{manager}");
    }
    Ok(())
}

#[test]
fn every_need_has_a_package_of_each_manager() -> Result<()> {
    let script = fs::read_to_string(super::root().join("scripts/setup"))?;
    let rows: Vec<Vec<&str>> = script
        .lines()
        .skip_while(|line| !line.starts_with("table='"))
        .skip(1)
        .take_while(|line| *line != "'")
        .map(|line| line.split('|').map(str::trim).collect())
        .collect();
    assert!(rows.len() > 20, "the table was not found");
    for row in rows {
        assert_eq!(row.len(), 6, "{row:?}");
        assert!(row.iter().all(|cell| !cell.is_empty()), "{row:?}");
    }
    Ok(())
}

#[test]
fn what_is_there_is_not_asked_for() -> Result<()> {
    let machine = Machine::new("apk")?;
    for program in ["make", "pkg-config", "bash", "strace", "lsof", "g++"] {
        machine.program(program, "exit 0")?;
    }
    // A compiler that finds each header but libelf's.
    machine.program("cc", "case $(cat) in *libelf*) exit 1 ;; esac")?;
    symlink("/bin/cat", machine.bin().join("cat"))?;
    let said = machine.said("demo")?;
    assert!(said.starts_with("apk add --quiet --no-cache elfutils-dev"), "{said}");
    assert!(!said.contains("zlib-dev") && !said.contains("g++"), "{said}");
    Ok(())
}

#[test]
fn root_installs_by_one_command_and_others_are_told_it() -> Result<()> {
    let machine = Machine::new("dnf")?;
    machine.program("id", "echo 0")?;
    let output = machine.setup(&["build"])?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let asked = fs::read_to_string(machine.root.path().join("asked"))?;
    assert!(asked.starts_with("dnf install -y -q gcc"), "{asked}");
    assert_eq!(asked.lines().count(), 1, "{asked}");

    let machine = Machine::new("dnf")?;
    machine.program("id", "echo 1000")?;
    let output = machine.setup(&["build"])?;
    let stderr = String::from_utf8(output.stderr)?;
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("\n    dnf install -y -q gcc"), "{stderr}");
    assert!(!machine.root.path().join("asked").exists());
    Ok(())
}

#[test]
fn an_unknown_distribution_says_what_is_missing() -> Result<()> {
    let machine = Machine::new("emerge")?;
    let output = machine.setup(&["build"])?;
    let stderr = String::from_utf8(output.stderr)?;
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("apt-get, dnf, pacman, apk") && stderr.contains("libelf-dev"), "{stderr}");
    Ok(())
}
