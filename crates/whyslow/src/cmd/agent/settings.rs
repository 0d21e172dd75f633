//! The settings as options: each takes the place of what the file says.

use clap::Args;
use std::path::{Path, PathBuf};
use whyslow_agent::{AgentSettings, RingTrigger};

/// Where the packages put the settings.
const USUAL: &str = "/etc/whyslow/agent.toml";

/// What the agent is told.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct RunArgs {
    /// The settings [default: /etc/whyslow/agent.toml, where it is there]; options take the place of what it says
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// A systemd unit; with * and ? (several: one option each)
    #[arg(long = "unit", value_name = "UNIT", help_heading = "Whom to record")]
    units: Vec<String>,
    /// A container: its name, its pod's, or the first digits of its id
    #[arg(long = "container", value_name = "ID", help_heading = "Whom to record")]
    containers: Vec<String>,
    /// A program by its name, script (app.py), jar, class or application (shop:app)
    #[arg(long = "name", value_name = "NAME", help_heading = "Whom to record")]
    names: Vec<String>,
    /// Who has this local TCP or UDP port
    #[arg(long = "port", value_name = "PORT", help_heading = "Whom to record")]
    ports: Vec<u16>,
    /// A control group: its path as /proc/PID/cgroup shows it; with * and ?
    #[arg(long = "cgroup", value_name = "PATH", help_heading = "Whom to record", hide_short_help = true)]
    cgroups: Vec<String>,
    /// Single processes, with their children
    #[arg(short, long = "pid", value_name = "PID", value_delimiter = ',', help_heading = "Whom to record")]
    pids: Vec<u32>,
    /// All processes
    #[arg(short, long, help_heading = "Whom to record")]
    all: bool,
    /// End after so many windows
    #[arg(long, value_name = "N")]
    pub(super) once: Option<u64>,
    /// Length of a window in seconds: 60, or fewer that 60 is a multiple of [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, hide_short_help = true)]
    window: Option<u32>,
    /// Where state, windows and parts are kept [default: /var/lib/whyslow]
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// The name of this host [default: the kernel's]
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    host: Option<String>,
    /// Mebibytes of parts that wait to be taken elsewhere, at most; then the oldest are removed [default: 512]
    #[arg(long, value_name = "MIB")]
    disk: Option<u64>,
    /// Percent of one CPU that the agent may take; beyond it gives up detail [default: 1]
    #[arg(long, value_name = "PERCENT")]
    cpu: Option<f64>,
    /// Mebibytes of memory that it may take; beyond it gives up detail [default: 64]
    #[arg(long, value_name = "MIB")]
    memory: Option<u64>,
    /// Stacks a second of what runs on each CPU; 0 for none [default: 19]
    #[arg(long, value_name = "HZ", hide_short_help = true)]
    sample_hz: Option<u32>,
    /// No stacks of waits
    #[arg(long, hide_short_help = true)]
    no_wait_stacks: bool,
    /// Bytes of each read and write to look at, for naming requests; 0 for none [default: 256]
    #[arg(long, value_name = "BYTES", hide_short_help = true)]
    payload: Option<u32>,
    /// Seconds between two samples of the host [default: 15]
    #[arg(long, value_name = "SECONDS", hide_short_help = true)]
    host_every: Option<u32>,
    /// Least severity of findings that are kept: notice, warning, critical [default: warning]
    #[arg(long, value_name = "SEVERITY", hide_short_help = true)]
    severity: Option<String>,
    /// A finding closes after so many windows without it [default: 3]
    #[arg(long, value_name = "N", hide_short_help = true)]
    close_after: Option<u32>,
    /// Keep the last so many seconds in memory, and write them out when a trigger fires; 0 for none [default: 0]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, help_heading = "Keep the last seconds")]
    ring: Option<u32>,
    /// When to keep them (may repeat): request>200ms, request>p99*3, error, call>1s, psi=io>20%, oom; `whyslow dump` always does
    #[arg(long = "on", value_name = "TRIGGER", help_heading = "Keep the last seconds")]
    on: Vec<String>,
    /// Upload the parts there: s3://BUCKET/PREFIX, gs://…, az://… or a directory
    #[arg(long, value_name = "URL")]
    storage: Option<String>,
    /// Give up no detail, whatever it costs: for measuring
    #[arg(long, hide_short_help = true)]
    keep_detail: bool,
}

/// Where the agent keeps its state.
#[derive(Args, Clone, Debug)]
pub(super) struct StateArgs {
    /// The settings [default: /etc/whyslow/agent.toml, where it is there]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Where state is kept [default: what the settings say, else /var/lib/whyslow]
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
}

impl StateArgs {
    /// The folder.
    pub(super) fn folder(&self) -> anyhow::Result<PathBuf> {
        match &self.state {
            Some(state) => Ok(state.clone()),
            None => Ok(of_file(self.config.as_deref()).map_err(anyhow::Error::msg)?.state),
        }
    }
}

impl RunArgs {
    /// The settings: those of the file, with the options in their place. To be asked again where they are to be read again.
    pub(super) fn settings(&self) -> Result<AgentSettings, String> {
        let mut settings = of_file(self.config.as_deref())?;
        fn take<T: Clone>(to: &mut T, from: &Option<T>) {
            if let Some(from) = from {
                to.clone_from(from);
            }
        }
        let is_asked = self.all
            || !self.pids.is_empty()
            || !self.ports.is_empty()
            || [&self.units, &self.containers, &self.names, &self.cgroups]
                .iter()
                .any(|names| !names.is_empty());
        if is_asked {
            settings.units.clone_from(&self.units);
            settings.containers.clone_from(&self.containers);
            settings.names.clone_from(&self.names);
            settings.ports.clone_from(&self.ports);
            settings.cgroups.clone_from(&self.cgroups);
            settings.pids.clone_from(&self.pids);
            settings.all = self.all;
        }
        take(&mut settings.window, &self.window);
        take(&mut settings.state, &self.state);
        take(&mut settings.host, &self.host);
        take(&mut settings.disk, &self.disk);
        take(&mut settings.cpu, &self.cpu);
        take(&mut settings.memory, &self.memory);
        take(&mut settings.sample_hz, &self.sample_hz);
        take(&mut settings.payload, &self.payload);
        take(&mut settings.host_every, &self.host_every);
        take(&mut settings.severity, &self.severity);
        take(&mut settings.close_after, &self.close_after);
        take(&mut settings.ring.seconds, &self.ring);
        take(&mut settings.storage.url, &self.storage);
        if !self.on.is_empty() {
            settings.ring.on = self.on.iter().cloned().map(RingTrigger::Typed).collect();
        }
        settings.wait_stacks &= !self.no_wait_stacks;
        settings.keep_detail |= self.keep_detail;
        if let Ok(absolute) = std::path::absolute(&settings.state) {
            settings.state = absolute;
        }
        settings.check()?;
        if settings.selection().is_empty() {
            return Err("nobody to record\nnext: name units, containers, programs or ports, or all processes (-a); `whyslow agent run --help` has examples".to_string());
        }
        Ok(settings)
    }
}

/// The settings of a file; the usual ones where none is named and there is none.
fn of_file(named: Option<&Path>) -> Result<AgentSettings, String> {
    match named {
        Some(path) => AgentSettings::read(path),
        None if Path::new(USUAL).exists() => AgentSettings::read(Path::new(USUAL)),
        None => Ok(AgentSettings::default()),
    }
}

/// `10`, `10s`.
fn seconds(text: &str) -> Result<u32, String> {
    text.trim_end_matches('s').parse().map_err(|_| "expected seconds, as in 10".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_take_the_place_of_what_the_file_says() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("agent.toml");
        std::fs::write(&path, "units = [\"nginx\"]\nwindow = 30\nstate = \"/srv/whyslow\"\n")
            .expect("written");
        let of_file = RunArgs { config: Some(path.clone()), ..RunArgs::default() };
        let settings = of_file.settings().expect("right");
        assert_eq!((settings.units.len(), settings.window), (1, 30));
        let more = RunArgs { names: vec!["db".into()], window: Some(10), ..of_file };
        let settings = more.settings().expect("right");
        assert_eq!((settings.units.len(), settings.names.len(), settings.window), (0, 1, 10));
        assert_eq!(settings.state, Path::new("/srv/whyslow"));
        let nobody = RunArgs { config: Some(folder.path().join("none")), ..RunArgs::default() };
        assert!(nobody.settings().expect_err("none").contains("none"));
        assert_eq!((seconds("10s"), seconds("10")), (Ok(10), Ok(10)));
    }
}
