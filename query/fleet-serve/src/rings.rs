//! Asking a host's flight ring to keep what it has: `POST /dump`, with the ring's own token (docs/RING.md). The ring answers when the recording is
//! there, and says where.

use crate::audit::short;
use crate::error::FleetServeError;
use crate::oidc::client;
use crate::settings::{AskedRing, secret};
use std::collections::BTreeMap;
use std::time::Duration;
use url::Url;

/// A ring writes its window within this time; the time after the trigger (`--after`) is in it.
const PATIENCE: Duration = Duration::from_secs(120);
/// Bytes of its answer that are told.
const MOST_BYTES: usize = 4 << 10;

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
    pub(crate) async fn dump(&self, host: &str, reason: &str) -> Result<String, String> {
        let ring = self.rings.get(host).ok_or("no ring of that host is named in the settings")?;
        let mut to = ring.url.join("/dump").map_err(|error| error.to_string())?;
        to.query_pairs_mut().append_pair("reason", reason);
        let request = self.client.post(to).bearer_auth(&ring.token).timeout(PATIENCE).body(Vec::new());
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
