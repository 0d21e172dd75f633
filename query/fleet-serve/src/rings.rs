//! Asking a host's flight ring to keep what it has (`POST /dump`), or to record in detail (`POST /record`), with the ring's own token (docs/RING.md).
//! The ring answers when the recording is there, and says where.

use crate::audit::short;
use crate::error::FleetServeError;
use crate::oidc::client;
use crate::settings::{AskedRing, secret};
use std::collections::BTreeMap;
use std::time::Duration;
use url::Url;

/// A ring writes its window within this time; the time after the trigger (`--after`) is in it. A recording has its own length besides.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);
/// Seconds of a recording where nothing else is said, and at most: rings take no longer ones.
pub(crate) const USUAL_SECONDS: u64 = 30;
pub(crate) const MOST_SECONDS: u64 = 300;
/// Bytes of its answer that are told.
const MOST_BYTES: usize = 4 << 10;

/// What a ring is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RingWish {
    /// To keep what it has.
    Dump,
    /// To record in detail for so many seconds.
    Record(u64),
}

impl RingWish {
    /// Of a form: an empty field is the usual.
    ///
    /// # Errors
    /// Where rings take no such number.
    pub(crate) fn record(seconds: &str) -> Result<RingWish, String> {
        let number = match seconds.trim() {
            "" => Some(USUAL_SECONDS),
            text => text.parse().ok().filter(|number| (1..=MOST_SECONDS).contains(number)),
        };
        let told = || format!("seconds = {}: expected 1 to {MOST_SECONDS}", short(seconds.trim()));
        number.map(RingWish::Record).ok_or_else(told)
    }

    /// Its name, as that of the role that it needs.
    pub(crate) fn name(self) -> &'static str {
        match self {
            RingWish::Dump => "dump",
            RingWish::Record(_) => "record",
        }
    }
}

struct Ring {
    url: Url,
    token: String,
}

/// The rings, by host.
pub(crate) struct Rings {
    rings: BTreeMap<String, Ring>,
    client: reqwest::Client,
}

impl Rings {
    /// Of the settings.
    ///
    /// # Errors
    /// If a token cannot be read.
    pub(crate) fn read(settings: &[AskedRing]) -> Result<Rings, FleetServeError> {
        let mut rings = BTreeMap::new();
        for each in settings {
            rings.insert(each.host.clone(), Ring { url: each.url.clone(), token: secret(&each.token_file)? });
        }
        let client = client()
            .map_err(|error| FleetServeError::Settings { place: "ring".into(), reason: error.to_string() })?;
        Ok(Rings { rings, client })
    }

    pub(crate) fn has(&self, host: &str) -> bool {
        self.rings.contains_key(host)
    }

    /// Asks the ring of a host; what it says: where the recording is.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) async fn ask(&self, host: &str, wish: RingWish, reason: &str) -> Result<String, String> {
        let ring = self.rings.get(host).ok_or("no ring of that host is named in the settings")?;
        let mut to = ring.url.join(&format!("/{}", wish.name())).map_err(|error| error.to_string())?;
        let mut patience = PATIENCE;
        if let RingWish::Record(seconds) = wish {
            to.query_pairs_mut().append_pair("seconds", &seconds.to_string());
            patience += Duration::from_secs(seconds);
        }
        to.query_pairs_mut().append_pair("reason", reason);
        let request = self.client.post(to).bearer_auth(&ring.token).timeout(patience).body(Vec::new());
        let trouble = |error: reqwest::Error| format!("the ring does not answer: {}", error.without_url());
        let mut response = request.send().await.map_err(trouble)?;
        let status = response.status();
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(trouble)? {
            body.extend_from_slice(&piece);
            if body.len() >= MOST_BYTES {
                break;
            }
        }
        let said = short(String::from_utf8_lossy(&body).trim());
        match status.is_success() {
            true => Ok(said),
            false => Err(format!("the ring answers {}: {said}", status.as_u16())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_has_as_many_seconds_as_rings_take() {
        assert_eq!(RingWish::record(""), Ok(RingWish::Record(30)));
        assert_eq!(RingWish::record(" 300 "), Ok(RingWish::Record(300)));
        for wrong in ["0", "301", "-1", "1.5", "many", "99999999999999999999999"] {
            assert!(RingWish::record(wrong).is_err_and(|why| why.contains("expected 1 to 300")), "{wrong}");
        }
    }
}
