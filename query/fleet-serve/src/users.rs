//! Who asks, and what they may do: tokens, sessions, and those who try too often.

use crate::error::FleetServeError;
use crate::settings::{FleetRole, TokenSettings, secret};
use sha2::{Digest, Sha256};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Sessions that are kept; of more, those that were used least recently end.
const MOST_SESSIONS: usize = 10_000;
/// Failed logins of an address within [`FAILED_WITHIN`] from which it is refused.
const MOST_FAILED: u32 = 10;
/// For how long failed logins count: a token of 16 characters is not found by six thousand tries a month.
const FAILED_WITHIN: Duration = Duration::from_secs(600);
/// Addresses that are remembered for failed logins.
const MOST_ADDRESSES: usize = 4_096;
/// Bytes of a secret that is made here.
const SECRET: usize = 32;

/// A SHA-256.
pub(crate) type Hash = [u8; 32];

/// Somebody who is logged in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct FleetUser {
    /// The name.
    pub(crate) name: String,
    /// How they logged in: `token`, `oidc`, `proxy`.
    pub(crate) how: &'static str,
    /// What they may do.
    pub(crate) roles: BTreeSet<FleetRole>,
}

impl FleetUser {
    pub(crate) fn may(&self, role: FleetRole) -> bool {
        self.roles.iter().any(|own| *own >= role)
    }
}

fn held<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The hash of a text.
pub(crate) fn hashed(text: &str) -> Hash {
    Sha256::digest(text.as_bytes()).into()
}

/// In a time that does not tell how much of it is right.
pub(crate) fn same(a: &Hash, b: &Hash) -> bool {
    a.iter().zip(b).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

/// A new secret, in hexadecimal digits.
pub(crate) fn random() -> Result<String, FleetServeError> {
    let mut bytes = [0u8; SECRET];
    getrandom::fill(&mut bytes).map_err(|error| FleetServeError::Random(error.to_string()))?;
    Ok(hex(&bytes))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<Hash> {
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    let mut hash = [0; 32];
    for (at, byte) in hash.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[at * 2..at * 2 + 2], 16).ok()?;
    }
    Some(hash)
}

/// The tokens that are known, by their hashes.
pub(crate) struct Tokens(Vec<(Hash, FleetUser)>);

impl Tokens {
    /// Of the settings.
    ///
    /// # Errors
    /// If a file cannot be read, or a hash is none.
    pub(crate) fn read(settings: &[TokenSettings]) -> Result<Tokens, FleetServeError> {
        let mut tokens = Tokens(Vec::new());
        for each in settings {
            let hash = match (&each.sha256, &each.file) {
                (Some(text), _) => unhex(text).ok_or_else(|| FleetServeError::Settings {
                    place: format!("token {}", each.name),
                    reason: "sha256 has 64 hexadecimal digits: printf %s TOKEN | sha256sum".to_string(),
                })?,
                (None, Some(file)) => hashed(&secret(file)?),
                (None, None) => continue,
            };
            tokens.add(hash, &each.name, each.roles.clone());
        }
        Ok(tokens)
    }

    pub(crate) fn add(&mut self, hash: Hash, name: &str, roles: BTreeSet<FleetRole>) {
        self.0.push((hash, FleetUser { name: name.to_string(), how: "token", roles }));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whose it is. All are compared, so that the time tells nothing.
    pub(crate) fn owner(&self, token: &str) -> Option<FleetUser> {
        let given = hashed(token.trim());
        self.0
            .iter()
            .fold(None, |found, (hash, user)| if same(hash, &given) { Some(user.clone()) } else { found })
    }
}

struct Session {
    user: FleetUser,
    until: Instant,
    used: Instant,
}

/// Logins that last, by the hash of what the browser has.
pub(crate) struct Sessions {
    lifetime: Duration,
    open: Mutex<HashMap<Hash, Session>>,
}

impl Sessions {
    pub(crate) fn new(lifetime: Duration) -> Sessions {
        Sessions { lifetime, open: Mutex::default() }
    }

    /// Begins one; what the browser is to send.
    ///
    /// # Errors
    /// If the kernel gives no random bytes.
    pub(crate) fn begin(&self, user: FleetUser) -> Result<String, FleetServeError> {
        let id = random()?;
        let now = Instant::now();
        let mut open = held(&self.open);
        open.retain(|_, session| session.until > now);
        if open.len() >= MOST_SESSIONS
            && let Some(oldest) = open.iter().min_by_key(|(_, session)| session.used).map(|(id, _)| *id)
        {
            open.remove(&oldest);
        }
        open.insert(hashed(&id), Session { user, until: now + self.lifetime, used: now });
        Ok(id)
    }

    pub(crate) fn user(&self, id: &str) -> Option<FleetUser> {
        let now = Instant::now();
        let mut open = held(&self.open);
        let session = open.get_mut(&hashed(id)).filter(|session| session.until > now)?;
        session.used = now;
        Some(session.user.clone())
    }

    pub(crate) fn end(&self, id: &str) {
        held(&self.open).remove(&hashed(id));
    }
}

/// Addresses from which logins failed.
#[derive(Default)]
pub(crate) struct Failures(Mutex<HashMap<String, (u32, Instant)>>);

impl Failures {
    /// Whether it failed too often: it is refused until [`FAILED_WITHIN`] after its first failure.
    pub(crate) fn too_many(&self, from: &str) -> bool {
        self.too_many_at(from, Instant::now())
    }

    fn too_many_at(&self, from: &str, now: Instant) -> bool {
        let failed = held(&self.0);
        failed
            .get(from)
            .is_some_and(|(count, since)| *count >= MOST_FAILED && now.duration_since(*since) < FAILED_WITHIN)
    }

    pub(crate) fn add(&self, from: &str) {
        self.add_at(from, Instant::now());
    }

    fn add_at(&self, from: &str, now: Instant) {
        let mut failed = held(&self.0);
        if failed.len() >= MOST_ADDRESSES {
            failed.retain(|_, (_, since)| now.duration_since(*since) < FAILED_WITHIN);
            if failed.len() >= MOST_ADDRESSES
                && let Some(oldest) =
                    failed.iter().min_by_key(|(_, (_, since))| *since).map(|(from, _)| from.clone())
            {
                failed.remove(&oldest);
            }
        }
        let entry = failed.entry(from.to_string()).or_insert((0, now));
        if now.duration_since(entry.1) >= FAILED_WITHIN {
            *entry = (0, now);
        }
        entry.0 = entry.0.saturating_add(1);
    }

    pub(crate) fn forget(&self, from: &str) {
        held(&self.0).remove(from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user() -> FleetUser {
        FleetUser { name: "ann".into(), how: "token", roles: BTreeSet::from([FleetRole::Read]) }
    }

    #[test]
    fn tokens_are_known_by_their_hash_alone() {
        let sha256 = Some(hex(&hashed("0123456789abcdef")));
        let of = |sha256| TokenSettings {
            name: "ann".into(),
            sha256,
            file: None,
            roles: BTreeSet::from([FleetRole::Read]),
        };
        let tokens = Tokens::read(&[of(sha256)]).unwrap();
        assert_eq!(tokens.owner("0123456789abcdef"), Some(user()));
        assert_eq!(tokens.owner("0123456789abcdeg"), None);
        assert_eq!(tokens.owner(""), None);
        assert!(Tokens::read(&[of(Some("é".repeat(32)))]).is_err());
    }

    #[test]
    fn a_role_has_those_before_it() {
        let of = |roles: &[FleetRole]| FleetUser { roles: roles.iter().copied().collect(), ..user() };
        let all = [FleetRole::Read, FleetRole::Dump, FleetRole::Record];
        for (own, may) in [
            (vec![], [false, false, false]),
            (vec![FleetRole::Read], [true, false, false]),
            (vec![FleetRole::Dump], [true, true, false]),
            (vec![FleetRole::Record], [true, true, true]),
        ] {
            assert_eq!(all.map(|role| of(&own).may(role)), may, "{own:?}");
        }
    }

    #[test]
    fn sessions_end() {
        let sessions = Sessions::new(Duration::from_secs(60));
        let id = sessions.begin(user()).unwrap();
        assert_eq!(sessions.user(&id), Some(user()));
        assert_eq!(sessions.user("other"), None);
        sessions.end(&id);
        assert_eq!(sessions.user(&id), None);
        let over = Sessions::new(Duration::ZERO);
        let id = over.begin(user()).unwrap();
        assert_eq!(over.user(&id), None);
    }

    #[test]
    fn who_fails_too_often_waits() {
        let (failures, now) = (Failures::default(), Instant::now());
        for _ in 0..MOST_FAILED {
            assert!(!failures.too_many_at("a", now));
            failures.add_at("a", now);
        }
        assert!(failures.too_many_at("a", now) && !failures.too_many_at("b", now));
        assert!(!failures.too_many_at("a", now + FAILED_WITHIN));
        failures.add_at("a", now + FAILED_WITHIN);
        assert!(!failures.too_many_at("a", now + FAILED_WITHIN));
        for at in 0..2 * MOST_ADDRESSES {
            failures.add_at(&format!("x{at}"), now);
        }
        assert!(held(&failures.0).len() <= MOST_ADDRESSES);
    }
}
