//! What the agent is told: a file of TOML, each key of which is an option of the command as well.

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::Duration;
use whyslow_model::visible;
use whyslow_outlets::{JournalSettings, OpenMetricsSettings, OtlpSettings, OutletSettings, WebhookSettings};
use whyslow_record::target::Selection;

/// Bytes of a file of settings at most: what is longer is another file.
const LONGEST: u64 = 1 << 20;

/// What the agent is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgentSettings {
    /// Systemd units to record; with * and ?.
    pub units: Vec<String>,
    /// Containers, by name, pod or the first digits of the id.
    pub containers: Vec<String>,
    /// Programs by name.
    pub names: Vec<String>,
    /// Who has these local ports.
    pub ports: Vec<u16>,
    /// Control groups, by path; with * and ?.
    pub cgroups: Vec<String>,
    /// Single processes, with their children.
    pub pids: Vec<u32>,
    /// All processes.
    pub all: bool,
    /// The name of this host; the kernel's where it is empty.
    pub host: String,
    /// Length of a window in seconds: 60, or fewer that 60 is a multiple of.
    pub window: u32,
    /// Where state, windows and parts are kept.
    pub state: PathBuf,
    /// Mebibytes of parts that wait to be taken elsewhere, at most: then the oldest are removed.
    pub disk: u64,
    /// Of one CPU, percent that the agent may take.
    pub cpu: f64,
    /// Mebibytes of memory that the agent may take.
    pub memory: u64,
    /// Stacks a second of what runs on each CPU; 0 for none.
    pub sample_hz: u32,
    /// Stacks of waits of a millisecond or more.
    pub wait_stacks: bool,
    /// Bytes of reads and writes that are looked at to name requests; 0 for none.
    pub payload: u32,
    /// Between two samples of the host, seconds.
    pub host_every: u32,
    /// Least severity of findings that are kept: `notice`, `warning` or `critical`.
    pub severity: String,
    /// A finding closes after so many windows without it.
    pub close_after: u32,
    /// Detail is never given up, whatever it costs: for measuring.
    pub keep_detail: bool,
    /// Sets of labels of one kind that outlets tell apart, at most; the rest is `other`.
    pub series: u32,
    /// A page of figures for Prometheus.
    pub openmetrics: Option<OpenMetricsSettings>,
    /// Figures, findings and profiles to a collector of OpenTelemetry.
    pub otlp: Option<OtlpSettings>,
    /// Findings to Alertmanager and webhooks.
    pub webhook: Vec<WebhookSettings>,
    /// Findings to the journal of systemd.
    pub journal: Option<JournalSettings>,
    /// The last seconds, kept when something happens.
    pub ring: RingSettings,
    /// Where parts are uploaded to.
    pub storage: StorageSettings,
}

/// The table `[ring]`: the last seconds in memory, kept as a recording when a trigger fires.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RingSettings {
    /// So many seconds before a trigger are kept; 0: there is no ring.
    pub seconds: u32,
    /// So many seconds after it.
    pub after: u32,
    /// Mebibytes of the ring; where they do not hold the time, less is kept.
    pub memory: u64,
    /// The triggers.
    pub on: Vec<RingTrigger>,
    /// Between two recordings of the same trigger, seconds at least.
    pub cool_down: u32,
    /// Recordings that are kept; the oldest make place.
    pub keep: u16,
    /// Mebibytes of them all together.
    pub disk: u64,
    /// Where `POST /dump` is listened for, an address of this host; nowhere where it is empty.
    pub http: String,
    /// A file whose first line is the token for `http`.
    pub token_file: Option<PathBuf>,
    /// Whoever has the token may begin a recording in detail, too: `POST /record`.
    pub record: bool,
}

/// When the ring is kept: as it is typed behind `record --ring --on`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RingTrigger {
    /// `on = ["request>200ms"]`
    Typed(String),
    /// `[[ring.on]]`
    Table {
        /// `trigger = "request>200ms"`
        trigger: String,
    },
}

impl RingTrigger {
    /// As it is typed.
    pub fn text(&self) -> &str {
        match self {
            RingTrigger::Typed(text) | RingTrigger::Table { trigger: text } => text,
        }
    }
}

impl Default for RingSettings {
    fn default() -> RingSettings {
        RingSettings {
            seconds: 0,
            after: 5,
            memory: 24,
            on: Vec::new(),
            cool_down: 60,
            keep: 20,
            disk: 256,
            http: String::new(),
            token_file: None,
            record: false,
        }
    }
}

/// The table `[storage]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StorageSettings {
    /// `s3://BUCKET/PREFIX`, `gs://…`, `az://…` or a directory; nothing is uploaded where it is empty.
    pub url: String,
    /// A file of `KEY=VALUE` lines with the credentials; else the environment has them.
    pub credentials: Option<PathBuf>,
    /// Let the store be spoken to without encryption.
    pub plain_http: bool,
}

impl Default for AgentSettings {
    fn default() -> AgentSettings {
        AgentSettings {
            units: Vec::new(),
            containers: Vec::new(),
            names: Vec::new(),
            ports: Vec::new(),
            cgroups: Vec::new(),
            pids: Vec::new(),
            all: false,
            host: String::new(),
            window: 60,
            state: PathBuf::from("/var/lib/whyslow"),
            disk: 512,
            cpu: 1.0,
            memory: 64,
            sample_hz: 19,
            wait_stacks: true,
            payload: 256,
            host_every: 15,
            severity: "warning".to_string(),
            close_after: 3,
            keep_detail: false,
            series: OutletSettings::USUAL_SERIES,
            openmetrics: None,
            otlp: None,
            webhook: Vec::new(),
            journal: None,
            ring: RingSettings::default(),
            storage: StorageSettings::default(),
        }
    }
}

impl AgentSettings {
    /// Those of a file.
    ///
    /// # Errors
    /// Where it cannot be read, or says what cannot be; with the line.
    pub fn read(path: &Path) -> Result<AgentSettings, String> {
        let shown = visible::path(path);
        let about = std::fs::metadata(path).map_err(|error| format!("{shown}: {error}"))?;
        if about.len() > LONGEST {
            return Err(format!("{shown}: it is longer than 1 MiB, and no file of settings"));
        }
        let text = std::fs::read_to_string(path).map_err(|error| format!("{shown}: {error}"))?;
        AgentSettings::parse(&text).map_err(|error| format!("{shown}: {error}"))
    }

    /// Those of a text.
    ///
    /// # Errors
    /// Where it says what cannot be.
    pub fn parse(text: &str) -> Result<AgentSettings, String> {
        let settings: AgentSettings =
            toml_edit::de::from_str(text).map_err(|error| error.to_string().trim_end().to_string())?;
        settings.check()?;
        Ok(settings)
    }

    /// Whether all is possible.
    ///
    /// # Errors
    /// What is not, and what is.
    pub fn check(&self) -> Result<(), String> {
        let within = |name: &str, value: u64, least: u64, most: u64| match (least..=most).contains(&value) {
            true => Ok(()),
            false => Err(format!("{name} = {value}: expected {least} to {most}")),
        };
        within("window", self.window.into(), 1, 60)?;
        if !60u32.is_multiple_of(self.window) {
            return Err(format!(
                "window = {}: expected seconds that 60 is a multiple of: 60, 30, 20, 15, 10, 5",
                self.window
            ));
        }
        within("disk", self.disk, 1, 1 << 20)?;
        within("memory", self.memory, 16, 1 << 20)?;
        within("sample_hz", self.sample_hz.into(), 0, 999)?;
        within("payload", self.payload.into(), 0, 1000)?;
        within("host_every", self.host_every.into(), 1, 60)?;
        within("close_after", self.close_after.into(), 1, 10_000)?;
        if !(self.cpu > 0.0 && self.cpu <= 100.0) {
            return Err(format!(
                "cpu = {}: expected more than 0 and at most 100 (percent of one CPU)",
                self.cpu
            ));
        }
        if !["notice", "warning", "critical"].contains(&self.severity.as_str()) {
            return Err(format!("severity = {:?}: expected notice, warning or critical", self.severity));
        }
        within("ring.seconds", self.ring.seconds.into(), 0, 3_600)?;
        within("ring.after", self.ring.after.into(), 0, 600)?;
        within("ring.memory", self.ring.memory, 8, 1 << 16)?;
        within("ring.keep", self.ring.keep.into(), 1, u64::from(u16::MAX))?;
        within("ring.disk", self.ring.disk, 1, 1 << 20)?;
        if self.ring.seconds == 0 && !self.ring.on.is_empty() {
            return Err("ring.on: there is no ring: expected ring.seconds, as in 30".to_string());
        }
        if self.ring.http.is_empty() != self.ring.token_file.is_none() {
            return Err("ring.http and ring.token_file: expected both or none".to_string());
        }
        if self.ring.record && self.ring.http.is_empty() {
            return Err(
                "ring.record = true: nobody can ask for a recording: expected ring.http and ring.token_file"
                    .to_string(),
            );
        }
        #[cfg(feature = "bpf")]
        for one in &self.ring.on {
            whyslow_flight::trigger(one.text())
                .map_err(|why| format!("ring.on = {:?}: {why}", one.text()))?;
        }
        if !self.state.is_absolute() {
            return Err(format!("state = {}: expected a path from /", visible::path(&self.state)));
        }
        self.outlets().check()
    }

    /// What is sent where.
    pub fn outlets(&self) -> OutletSettings {
        OutletSettings {
            series: self.series,
            openmetrics: self.openmetrics.clone(),
            otlp: self.otlp.clone(),
            webhook: self.webhook.clone(),
            journal: self.journal.clone(),
            window: self.window,
        }
    }

    /// Whom to record.
    pub fn selection(&self) -> Selection {
        Selection {
            pids: self.pids.clone(),
            names: self.names.clone(),
            children: true,
            cgroups: self.cgroups.clone(),
            containers: self.containers.clone(),
            units: self.units.clone(),
            ports: self.ports.clone(),
            all: self.all,
            ..Selection::default()
        }
    }

    /// The name of this host.
    pub fn host_name(&self) -> String {
        if !self.host.is_empty() {
            return self.host.clone();
        }
        let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let name = name.trim();
        if name.is_empty() { "localhost".to_string() } else { name.to_string() }
    }

    /// The length of a window.
    pub(crate) fn length(&self) -> Duration {
        Duration::from_secs(self.window.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_says_what_it_says_and_the_rest_is_usual() {
        let settings = AgentSettings::parse("units = [\"nginx\"]\nwindow = 10\ncpu = 0.5\n").expect("right");
        assert_eq!((settings.units[0].as_str(), settings.window, settings.cpu), ("nginx", 10, 0.5));
        assert_eq!(settings.close_after, AgentSettings::default().close_after);
        assert!(!settings.selection().is_empty() && AgentSettings::default().selection().is_empty());
    }

    #[cfg(feature = "bpf")]
    #[test]
    fn triggers_are_typed_in_a_list_or_in_tables() {
        let list = "[ring]\nseconds = 30\non = [\"request>200ms\", \"oom\"]\n";
        let tables = "[ring]\nseconds = 30\n[[ring.on]]\ntrigger = \"request>200ms\"\n[[ring.on]]\ntrigger = \"oom\"\n";
        for text in [list, tables] {
            let ring = AgentSettings::parse(text).expect("right").ring;
            let on: Vec<&str> = ring.on.iter().map(RingTrigger::text).collect();
            assert_eq!((ring.seconds, on), (30, vec!["request>200ms", "oom"]));
        }
        let wrong = AgentSettings::parse("[ring]\nseconds = 30\non = [\"slow\"]").expect_err("no trigger");
        assert!(wrong.contains("\"slow\": no trigger is typed so"), "{wrong}");
    }

    #[test]
    fn what_cannot_be_is_told() {
        for (text, told) in [
            ("window = 7", "60 is a multiple of"),
            ("window = 0", "expected 1 to 60"),
            ("cpu = 0", "percent of one CPU"),
            ("cpu = nan", "percent of one CPU"),
            ("severity = \"all\"", "notice, warning or critical"),
            ("state = \"here\"", "a path from /"),
            ("unit = [\"nginx\"]", "unknown field"),
            ("[ring]\nseconds = 9999", "ring.seconds = 9999: expected 0 to 3600"),
            ("[ring]\non = [\"error\"]", "expected ring.seconds"),
            ("[ring]\nseconds = 30\nhttp = \"127.0.0.1:9911\"", "expected both or none"),
            ("[ring]\nseconds = 30\nrecord = true", "expected ring.http and ring.token_file"),
            ("[storage]\nuri = \"/x\"", "unknown field"),
            ("ports = [99999]", "99999"),
            ("units = ", "line 1"),
            ("series = 0", "1 to 10000"),
            ("[openmetrics]\nlisten = \"0.0.0.0:9733\"", "token_file"),
            ("[openmetrics]\nport = 1", "unknown field"),
            ("[[webhook]]\nurl = \"alerts\"", "http://HOST:PORT"),
            ("[[webhook]]\nform = \"generic\"", "url"),
            ("[otlp]\nmetrics = false\nlogs = false", "all false"),
        ] {
            let error = AgentSettings::parse(text).expect_err(text);
            assert!(error.contains(told), "{text}: {error}");
        }
    }

    #[test]
    fn outlets_are_off_unless_they_are_named() {
        assert!(!AgentSettings::default().outlets().is_any_on());
        let text = "[openmetrics]\n[otlp]\nendpoint = \"http://c:4318\"\n[[webhook]]\nurl = \"http://a:9093\"\n[journal]\non = true\n";
        let settings = AgentSettings::parse(text).expect("right");
        let words = settings.outlets().in_words();
        assert_eq!(words.len(), 4, "{words:?}");
        assert_eq!(words[0], "openmetrics at http://127.0.0.1:9733/metrics");
        let secret = AgentSettings::parse("[[webhook]]\nurl = \"https://h/SECRET\"\n").expect("right");
        assert!(!format!("{secret:?} {:?}", secret.outlets().in_words()).contains("SECRET"));
    }

    #[test]
    fn what_is_written_is_read_back() {
        let settings = AgentSettings { names: vec!["a".into()], ..AgentSettings::default() };
        let text = serde_json::to_string(&settings).expect("written");
        assert_eq!(serde_json::from_str::<AgentSettings>(&text).expect("read"), settings);
    }
}
