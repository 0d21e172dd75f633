//! `webhook`: findings to a receiver of alerts. In the form `alertmanager` all that are open, each window, as Alertmanager takes them
//! (`POST /api/v2/alerts`): with an end, so that they are over where the agent is. In the form `generic` those that opened or closed, as
//! Alertmanager itself sends them to webhooks (version "4").
//!
//! ```json
//! [{"labels":{"alertname":"fsync-per-write","severity":"warning"},"annotations":{"summary":"…"},
//!   "startsAt":"2026-11-27T17:49:00.000000Z","endsAt":"2026-11-27T17:55:00.000000Z","generatorURL":"…"}]
//! ```

use super::{Outlet, OutletKind, OutletSettings};
use crate::error::OutletError;
use crate::findings::rank;
use crate::message::{annotations, labels, link, rfc3339};
use crate::post::{self, Poster};
use crate::queue::{OutMessage, SendQueue};
use crate::sums::{OutletCounts, OutletSums};
use crate::told::{ToldFinding, ToldWindow};
use crate::url::OutletUrl;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// The outlet.
pub(super) const KIND: OutletKind = OutletKind {
    name: "webhook",
    about: "findings to Alertmanager, or to a webhook as Alertmanager calls them",
    check: |settings| settings.webhook.iter().try_for_each(WebhookSettings::check),
    is_on: |settings| !settings.webhook.is_empty(),
    words: |settings| {
        let words = |one: &WebhookSettings| format!("findings as {} to {}", one.form.word(), one.url);
        settings.webhook.iter().map(words).collect()
    },
    wants_stacks: |_| false,
    open: |settings: &OutletSettings, _| {
        settings.webhook.iter().map(|one| open(one, settings.window)).collect()
    },
};

/// The path of Alertmanager's API, where the address has none.
const ALERTS: &str = "/api/v2/alerts";
/// An alert is over where it was not said again for so many windows, and so many microseconds: what telling a window may take, and
/// what a receiver may be away for a moment.
const WINDOWS: i64 = 5;
const SHORTEST: i64 = 5 * 60 * 1_000_000;

/// In which form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WebhookForm {
    /// As Alertmanager takes alerts.
    #[default]
    Alertmanager,
    /// As Alertmanager sends them to webhooks.
    Generic,
}

impl WebhookForm {
    fn word(self) -> &'static str {
        match self {
            WebhookForm::Alertmanager => "alerts",
            WebhookForm::Generic => "a webhook",
        }
    }
}

/// The settings of one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebhookSettings {
    /// Where to; `http://HOST:9093` of Alertmanager gets the path of its API.
    pub url: OutletUrl,
    /// In which form.
    #[serde(default)]
    pub form: WebhookForm,
    /// The least severity that is sent: `notice`, `warning`, `critical`.
    #[serde(default = "usual_severity")]
    pub severity: String,
    /// A file whose first line is sent as `Authorization: Bearer …`.
    #[serde(default)]
    pub token_file: Option<PathBuf>,
    /// The address of a page about a finding; `{host}`, `{service}`, `{rule}`, `{finding}` in it are replaced.
    #[serde(default)]
    pub link: String,
}

fn usual_severity() -> String {
    "warning".to_string()
}

impl WebhookSettings {
    fn check(&self) -> Result<(), String> {
        self.url.check().map_err(|why| format!("url = {why}"))?;
        if rank(&self.severity) == 0 {
            return Err(format!("severity = {:?}: expected notice, warning or critical", self.severity));
        }
        if !self.link.is_empty() {
            OutletUrl::new(&self.link.replace(['{', '}'], ""))
                .check()
                .map_err(|why| format!("link = {why}"))?;
        }
        Ok(())
    }

    /// Where messages go.
    fn target(&self) -> OutletUrl {
        let path = self.url.whole().split_once("://").map_or("", |(_, rest)| rest);
        let has_path = path.split_once('/').is_some_and(|(_, path)| !path.is_empty());
        match self.form {
            WebhookForm::Alertmanager if !has_path => self.url.with_path(ALERTS),
            _ => self.url.clone(),
        }
    }
}

struct Webhook {
    settings: WebhookSettings,
    target: OutletUrl,
    /// How long an alert holds, us.
    holds: i64,
    queue: SendQueue,
    /// Those that are sent as open, with what they were last.
    open: BTreeMap<String, ToldFinding>,
}

fn open(settings: &WebhookSettings, window: u32) -> Result<Box<dyn Outlet>, OutletError> {
    let mut headers = Vec::new();
    if let Some(path) = &settings.token_file {
        headers.push(post::bearer(&post::token(KIND.name, path)?));
    }
    let poster = Poster::new(&settings.url, &headers)?;
    let send = move |message: &OutMessage| poster.post(&message.to, message.media, &message.body);
    Ok(Box::new(Webhook {
        target: settings.target(),
        settings: settings.clone(),
        holds: (WINDOWS * 1_000_000 * i64::from(window)).max(SHORTEST),
        queue: SendQueue::start(KIND.name, send)?,
        open: BTreeMap::new(),
    }))
}

impl Outlet for Webhook {
    fn name(&self) -> &'static str {
        KIND.name
    }

    fn take(&mut self, window: &ToldWindow, _: &OutletSums) {
        let message = match self.settings.form {
            WebhookForm::Alertmanager => self.alerts(window),
            WebhookForm::Generic => self.webhook(window),
        };
        let Some(body) = message.and_then(|message| serde_json::to_vec(&message).ok()) else { return };
        self.queue.push(OutMessage {
            to: self.target.clone(),
            media: "application/json",
            body: Arc::new(body),
        });
    }

    fn counts(&self) -> OutletCounts {
        self.queue.counts()
    }

    fn notes(&mut self) -> Vec<String> {
        self.queue.notes()
    }

    fn close(&mut self, until: Instant) {
        self.queue.close(until);
    }
}

impl Webhook {
    fn is_sent(&self, finding: &ToldFinding) -> bool {
        rank(&finding.severity) >= rank(&self.settings.severity)
    }

    /// Takes what is open behind the window. Gives those that are over: gone, closed, or of another severity now, which is of the labels.
    fn over(&mut self, window: &ToldWindow) -> Vec<ToldFinding> {
        let now: BTreeMap<String, ToldFinding> = window
            .open
            .iter()
            .filter(|finding| self.is_sent(finding))
            .map(|finding| (finding.finding.clone(), finding.clone()))
            .collect();
        let before = std::mem::replace(&mut self.open, now);
        let is_over = |finding: &ToldFinding| {
            self.open.get(&finding.finding).is_none_or(|now| now.severity != finding.severity)
        };
        let mut over: Vec<ToldFinding> = before.into_values().filter(is_over).collect();
        // One that closes in the first window of a new start was opened by the one before.
        for closed in
            window.findings.iter().filter(|finding| finding.state == "closed" && self.is_sent(finding))
        {
            if over.iter().all(|known| known.finding != closed.finding) {
                over.push(closed.clone());
            }
        }
        over
    }

    fn alerts(&mut self, window: &ToldWindow) -> Option<Value> {
        let over = self.over(window);
        let (end, host) = (window.end(), &window.host);
        let alert = |finding: &ToldFinding, ends: i64| {
            let link = link(&self.settings.link, finding, host);
            let mut alert = json!({
                "labels": labels(finding, host),
                "annotations": annotations(finding),
                "startsAt": rfc3339(finding.opened),
                // An end before the begin is refused.
                "endsAt": rfc3339(ends.max(finding.opened + 1)),
            });
            if !link.is_empty() {
                alert["generatorURL"] = Value::String(link);
            }
            alert
        };
        let mut alerts: Vec<Value> =
            self.open.values().map(|finding| alert(finding, end + self.holds)).collect();
        alerts.extend(over.iter().map(|finding| alert(finding, end)));
        (!alerts.is_empty()).then_some(Value::Array(alerts))
    }

    fn webhook(&mut self, window: &ToldWindow) -> Option<Value> {
        // What was open before this start was told by the one before: only what opens is news then.
        let severities: BTreeMap<String, String> =
            self.open.iter().map(|(id, finding)| (id.clone(), finding.severity.clone())).collect();
        let over = self.over(window);
        let opens = |finding: &&ToldFinding| {
            let is_news =
                window.findings.iter().any(|told| told.finding == finding.finding && told.state == "open");
            is_news || severities.get(&finding.finding).is_some_and(|before| *before != finding.severity)
        };
        let (end, host) = (window.end(), &window.host);
        let alert = |finding: &ToldFinding, is_over: bool| {
            json!({
                "status": if is_over { "resolved" } else { "firing" },
                "labels": labels(finding, host),
                "annotations": annotations(finding),
                "startsAt": rfc3339(finding.opened),
                // As Alertmanager has it where no end is known.
                "endsAt": if is_over { rfc3339(end) } else { "0001-01-01T00:00:00Z".to_string() },
                "generatorURL": link(&self.settings.link, finding, host),
                "fingerprint": finding.finding,
            })
        };
        let mut alerts: Vec<Value> =
            self.open.values().filter(opens).map(|finding| alert(finding, false)).collect();
        let is_firing = !alerts.is_empty();
        alerts.extend(over.iter().map(|finding| alert(finding, true)));
        if alerts.is_empty() {
            return None;
        }
        Some(json!({
            "version": "4",
            "groupKey": format!("whyslow:{host}"),
            "truncatedAlerts": 0,
            "status": if is_firing { "firing" } else { "resolved" },
            "receiver": "whyslow",
            "groupLabels": { "host": host },
            "commonLabels": { "host": host, "source": "whyslow" },
            "commonAnnotations": {},
            "externalURL": "",
            "alerts": alerts,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::post::Posted;

    fn webhook(form: WebhookForm, severity: &str) -> Webhook {
        let settings = WebhookSettings {
            url: OutletUrl::new("http://127.0.0.1:9/"),
            form,
            severity: severity.into(),
            token_file: None,
            link: "http://w/{rule}".into(),
        };
        settings.check().expect("right");
        let send = |_: &OutMessage| Posted::Taken;
        Webhook {
            target: settings.target(),
            settings,
            holds: SHORTEST,
            queue: SendQueue::start("test", send).expect("started"),
            open: BTreeMap::new(),
        }
    }

    fn finding(id: &str, severity: &str, state: &str) -> ToldFinding {
        ToldFinding {
            finding: id.into(),
            rule: "r".into(),
            severity: severity.into(),
            service: "s".into(),
            title: "t".into(),
            state: state.into(),
            opened: 60_000_000,
            ..ToldFinding::default()
        }
    }

    /// A window in which those are told; all that do not close are open behind it.
    fn window(start: i64, findings: Vec<ToldFinding>) -> ToldWindow {
        let open = findings.iter().filter(|finding| finding.state != "closed").cloned().collect();
        ToldWindow { host: "h".into(), start, seconds: 60.0, findings, open, ..ToldWindow::default() }
    }

    fn said(message: &Value) -> Vec<(&str, &str, &str)> {
        message
            .as_array()
            .expect("alerts")
            .iter()
            .map(|alert| {
                let of = |name: &str| alert["labels"][name].as_str().unwrap_or("");
                (of("finding"), of("severity"), alert["endsAt"].as_str().unwrap_or(""))
            })
            .collect()
    }

    #[test]
    fn alertmanager_is_told_all_that_is_open_and_once_what_is_over() {
        let mut to = webhook(WebhookForm::Alertmanager, "warning");
        assert_eq!(to.target.whole(), "http://127.0.0.1:9/api/v2/alerts");
        let first = to
            .alerts(&window(
                60_000_000,
                vec![finding("1", "warning", "open"), finding("2", "notice", "open")],
            ))
            .expect("alerts");
        assert_eq!(said(&first), [("1", "warning", "1970-01-01T00:07:00.000000Z")]);
        assert_eq!(first[0]["generatorURL"], "http://w/r");
        assert_eq!(first[0]["startsAt"], "1970-01-01T00:01:00.000000Z");
        // Of another severity it is another alert there, and the old one ends.
        let second =
            to.alerts(&window(120_000_000, vec![finding("1", "critical", "continues")])).expect("alerts");
        assert_eq!(
            said(&second),
            [
                ("1", "critical", "1970-01-01T00:08:00.000000Z"),
                ("1", "warning", "1970-01-01T00:03:00.000000Z")
            ]
        );
        let third =
            to.alerts(&window(180_000_000, vec![finding("1", "critical", "closed")])).expect("alerts");
        assert_eq!(said(&third), [("1", "critical", "1970-01-01T00:04:00.000000Z")]);
        assert!(to.alerts(&window(240_000_000, vec![])).is_none());
    }

    #[test]
    fn a_webhook_is_told_what_opens_and_closes() {
        let mut to = webhook(WebhookForm::Generic, "notice");
        assert_eq!(to.target.whole(), "http://127.0.0.1:9/");
        let statuses = |message: &Value| {
            let alerts = message["alerts"].as_array().expect("alerts").iter();
            alerts.map(|alert| alert["status"].as_str().unwrap_or("").to_string()).collect::<Vec<_>>()
        };
        let first = to.webhook(&window(60_000_000, vec![finding("1", "warning", "open")])).expect("told");
        assert_eq!((first["version"].as_str(), first["status"].as_str()), (Some("4"), Some("firing")));
        assert_eq!(first["alerts"][0]["endsAt"], "0001-01-01T00:00:00Z");
        assert!(to.webhook(&window(120_000_000, vec![finding("1", "warning", "continues")])).is_none());
        let both = vec![finding("1", "warning", "closed"), finding("2", "notice", "open")];
        let third = to.webhook(&window(180_000_000, both)).expect("told");
        assert_eq!(
            (third["status"].as_str(), statuses(&third)),
            (Some("firing"), vec!["firing".into(), "resolved".into()])
        );
        // A new start knows nothing of what was open: that is no news, and its end is.
        let mut anew = webhook(WebhookForm::Generic, "notice");
        assert!(anew.webhook(&window(240_000_000, vec![finding("2", "notice", "continues")])).is_none());
        let end = anew.webhook(&window(300_000_000, vec![finding("2", "notice", "closed")])).expect("told");
        assert_eq!((end["status"].as_str(), statuses(&end)), (Some("resolved"), vec!["resolved".into()]));
    }
}
