//! A trigger that fired.

use whyslow_model::Timestamp;

/// Why a window is to be kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fired {
    /// The trigger as it was asked for: `request>200ms`.
    pub trigger: String,
    /// Its kind, for names of files: `request`.
    pub kind: &'static str,
    /// What happened, in words that follow "because": `request GET /x took 812 ms`.
    pub reason: String,
    /// When.
    pub at: Timestamp,
}

impl Fired {
    /// The sentence of the report: `Kept because request GET /x took 812 ms at 03:12:07.`
    pub fn sentence(&self) -> String {
        let at = self.at.date_and_time();
        // UTC, as the names of recordings are.
        let at = match at.rsplit_once('-') {
            Some((_, time)) if time.len() == 6 => {
                format!(" at {}:{}:{} UTC", &time[..2], &time[2..4], &time[4..])
            }
            _ => String::new(),
        };
        format!("Kept because {}{at}.", self.reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_says_what_and_when() {
        let fired = Fired {
            trigger: "request>200ms".into(),
            kind: "request",
            reason: "request GET /x took 812 ms".into(),
            at: Timestamp::new(1_795_296_895_000_000_000),
        };
        assert_eq!(fired.sentence(), "Kept because request GET /x took 812 ms at 21:34:55 UTC.");
        let fired = Fired { at: Timestamp::UNKNOWN, ..fired };
        assert_eq!(fired.sentence(), "Kept because request GET /x took 812 ms.");
    }
}
