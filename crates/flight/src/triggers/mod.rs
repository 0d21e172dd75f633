//! Triggers: what they are, and the registry. One more is its file, its `mod` line and its line here.

mod call;
mod errno;
mod error;
mod exit;
mod made;
mod oom;
mod psi;
mod request;
mod signal;
mod usual;

use std::time::Duration;
use whyslow_record::{Sight, SightsWanted};

/// What waits for something to happen.
pub trait Trigger: Send {
    /// Says what it needs to be told of the records.
    fn watch(&self, watched: &mut SightsWanted) {
        let _ = watched;
    }

    /// Looks at what is seen in the records. Where it fires: why, in words that follow "because".
    fn see(&mut self, sight: &Sight<'_>) -> Option<String> {
        let _ = sight;
        None
    }

    /// Looks at the host, once a second.
    fn look(&mut self) -> Option<String> {
        None
    }

    /// Requests that have been open for so long are told before they end.
    fn open_for(&self) -> Option<Duration> {
        None
    }
}

/// One kind of trigger.
pub struct TriggerKind {
    /// What it begins with as it is typed.
    pub name: &'static str,
    /// How it is typed: `request>200ms`.
    pub forms: &'static [&'static str],
    /// When it fires.
    pub about: &'static str,
    /// Makes one of what is typed behind the name.
    pub make: fn(&str) -> Result<Box<dyn Trigger>, String>,
}

/// All kinds.
pub static TRIGGERS: &[&TriggerKind] = &[
    &request::KIND,
    &made::KIND,
    &error::KIND,
    &call::KIND,
    &errno::KIND,
    &psi::KIND,
    &oom::KIND,
    &signal::KIND,
    &exit::KIND,
];

/// The trigger that is typed so.
///
/// # Errors
/// What is wrong with it, and how it is typed.
pub fn trigger(text: &str) -> Result<(&'static TriggerKind, Box<dyn Trigger>), String> {
    let split = text.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(text.len());
    let (name, rest) = text.split_at(split);
    let Some(kind) = TRIGGERS.iter().find(|kind| kind.name == name) else {
        let known: Vec<&str> = TRIGGERS.iter().flat_map(|kind| kind.forms).copied().collect();
        return Err(format!("no trigger is typed so; known are {}", known.join(", ")));
    };
    let made = (kind.make)(rest);
    made.map(|made| (*kind, made)).map_err(|why| format!("{why}; it is typed {}", kind.forms.join(" or ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_is_read_and_no_other() {
        for kind in TRIGGERS {
            assert!(!kind.forms.is_empty() && kind.about.ends_with('.'), "{}", kind.name);
            for form in kind.forms {
                let made = trigger(form);
                assert_eq!(
                    made.map(|(of, _)| of.name).map_err(|why| why.to_string()),
                    Ok(kind.name),
                    "{form}"
                );
            }
        }
        for wrong in [
            "",
            "request",
            "request>",
            "request>200",
            "requests>1s",
            "error>1",
            "psi=cpu",
            "psi=cpu>200%",
            "errno=EWRONG",
        ] {
            let refused = trigger(wrong).err();
            // A number without a unit is of seconds.
            assert_eq!(refused.is_none(), wrong == "request>200", "{wrong}: {refused:?}");
        }
    }
}
