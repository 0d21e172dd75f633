//! The settings of the server: who may look at what, where it listens, what it keeps. Read once, from a file in TOML, and checked before it listens.

use crate::error::FleetServeError;
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use url::Url;

/// The port where none is said.
const USUAL_PORT: u16 = 8470;
/// The shortest token that is taken: as long as no list of words has.
const SHORTEST_TOKEN: usize = 16;
/// How long a session lasts where nothing else is said, in hours: a working day with what is around it.
const SESSION_HOURS: u64 = 12;
/// The size of the audit log, all of its files together, where nothing else is said, in mebibytes.
const AUDIT_MIB: u64 = 64;

/// What a user may do. Each role has those before it in it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FleetRole {
    /// Look at everything that is served.
    Read,
    /// Ask a host's flight ring to keep a recording.
    Dump,
    /// Have a host's flight ring begin a recording in detail, which costs what it records.
    Record,
}

impl FleetRole {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            FleetRole::Read => "read",
            FleetRole::Dump => "dump",
            FleetRole::Record => "record",
        }
    }
}

/// The settings.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FleetServeSettings {
    /// Where it listens: `127.0.0.1:8470`, or `unix:PATH` for a proxy on the same machine.
    pub bind: Option<String>,
    /// The address that browsers use, where it is another one than that of `bind`.
    #[serde(deserialize_with = "some_address")]
    pub url: Option<Url>,
    /// Further names (with a port, where it is not the scheme's own) by which it may be asked.
    pub names: Vec<String>,
    /// Listen to other machines without TLS: whoever is on the way reads tokens and answers.
    pub plain_http: bool,
    /// The certificate.
    pub tls: Option<TlsFiles>,
    /// How long a login lasts, hours.
    pub session_hours: Option<u64>,
    /// The file of the audit log; none is written where it is not said.
    pub audit: Option<PathBuf>,
    /// The size of that file and the older ones together, mebibytes.
    pub audit_mib: Option<u64>,
    /// Recordings that were kept, and directories of them.
    pub recordings: Vec<PathBuf>,
    /// Hosts whose account and requests over time are read for a service, at most.
    pub sample: Option<usize>,
    /// Who has which token.
    pub token: Vec<TokenSettings>,
    /// A proxy that says who asks.
    pub proxy: Option<ProxySettings>,
    /// A provider of OpenID Connect.
    pub oidc: Option<OidcSettings>,
    /// Flight rings that can be asked to keep a recording.
    pub ring: Vec<AskedRing>,
}

/// A certificate.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsFiles {
    /// The certificates, PEM, its own first.
    pub certificate: PathBuf,
    /// The key, PEM.
    pub key: PathBuf,
}

/// A token.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenSettings {
    /// Whose it is, as the audit log names them.
    pub name: String,
    /// Its SHA-256, in hexadecimal digits.
    pub sha256: Option<String>,
    /// Else a file whose first line is the token.
    pub file: Option<PathBuf>,
    /// What it is good for.
    pub roles: BTreeSet<FleetRole>,
}

/// Which groups have which role. `*` is everybody who is logged in.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RoleGroups {
    /// Groups that may read.
    pub read: Vec<String>,
    /// Groups that may have recordings kept; reading is in it.
    pub dump: Vec<String>,
    /// Groups that may begin recordings in detail; the other two are in it.
    pub record: Vec<String>,
}

impl RoleGroups {
    /// The roles of who is in these groups.
    pub fn of(&self, groups: &[String]) -> BTreeSet<FleetRole> {
        let has = |wanted: &[String]| wanted.iter().any(|one| one == "*" || groups.contains(one));
        let all =
            [(FleetRole::Read, &self.read), (FleetRole::Dump, &self.dump), (FleetRole::Record, &self.record)];
        let highest = all.iter().rev().find(|(_, groups)| has(groups)).map(|(role, _)| *role);
        all.iter().map(|(role, _)| *role).filter(|role| Some(*role) <= highest).collect()
    }
}

/// A proxy that logs people in.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProxySettings {
    /// The addresses that it asks from; `unix` is the socket that this server listens on.
    pub from: Vec<String>,
    /// The header with the user's name.
    pub user: String,
    /// The header with the groups, commas between them.
    pub groups: Option<String>,
    /// Which groups have which role.
    pub roles: RoleGroups,
}

/// A provider of OpenID Connect.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OidcSettings {
    /// Its address, as it says it itself.
    #[serde(deserialize_with = "address")]
    pub issuer: Url,
    /// As which it knows this server.
    pub client_id: String,
    /// The file with the secret that it gave; a client without one is public.
    pub client_secret_file: Option<PathBuf>,
    /// What is asked for besides `openid`.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// The claim with the groups.
    #[serde(default = "groups")]
    pub claim: String,
    /// Which groups have which role.
    pub roles: RoleGroups,
}

/// An address of the web, of a text.
pub(crate) fn address<'d, D: Deserializer<'d>>(from: D) -> Result<Url, D::Error> {
    let text = String::deserialize(from)?;
    Url::parse(&text).map_err(|error| D::Error::custom(format!("{text}: {error}")))
}

/// The same, where it may be missing.
pub(crate) fn some_address<'d, D: Deserializer<'d>>(from: D) -> Result<Option<Url>, D::Error> {
    let Some(text) = Option::<String>::deserialize(from)? else { return Ok(None) };
    Url::parse(&text).map(Some).map_err(|error| D::Error::custom(format!("{text}: {error}")))
}

fn groups() -> String {
    "groups".to_string()
}

/// A flight ring.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskedRing {
    /// The host, as its agent calls it.
    pub host: String,
    /// Where it listens: the address of `record --http`, or of what leads there.
    #[serde(deserialize_with = "address")]
    pub url: Url,
    /// The file with its token.
    pub token_file: PathBuf,
}

/// Where it listens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FleetBind {
    /// An address.
    Address(SocketAddr),
    /// A socket of this machine.
    Unix(PathBuf),
}

impl FleetServeSettings {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, or has keys that are none; the place in it is told.
    pub fn read(path: &Path) -> Result<FleetServeSettings, FleetServeError> {
        let wrong = |reason: String| FleetServeError::Settings { place: path.display().to_string(), reason };
        let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        toml::from_str(&text).map_err(|error| wrong(error.to_string().trim_end().to_string()))
    }

    /// Where it is to listen.
    ///
    /// # Errors
    /// If that is no address.
    pub fn place(&self) -> Result<FleetBind, FleetServeError> {
        let Some(text) = &self.bind else {
            return Ok(FleetBind::Address(SocketAddr::from(([127, 0, 0, 1], USUAL_PORT))));
        };
        if let Some(path) = text.strip_prefix("unix:") {
            return Ok(FleetBind::Unix(PathBuf::from(path)));
        }
        let address =
            text.parse().or_else(|_| text.parse().map(|ip: IpAddr| SocketAddr::new(ip, USUAL_PORT)));
        address
            .map(FleetBind::Address)
            .map_err(|_| wrong("bind", &format!("{text} is no address: write 127.0.0.1:8470 or unix:PATH")))
    }

    /// Whether somebody can log in.
    pub fn has_login(&self) -> bool {
        !self.token.is_empty() || self.proxy.is_some() || self.oidc.is_some()
    }

    /// Whether browsers reach it by TLS.
    pub fn is_encrypted(&self) -> bool {
        self.tls.is_some() || self.url.as_ref().is_some_and(|url| url.scheme() == "https")
    }

    /// How long a login lasts, seconds.
    pub fn session_seconds(&self) -> u64 {
        self.session_hours.unwrap_or(SESSION_HOURS).clamp(1, 24 * 30) * 3_600
    }

    /// The size of the audit log, bytes.
    pub fn audit_bytes(&self) -> u64 {
        self.audit_mib.unwrap_or(AUDIT_MIB).max(1) << 20
    }

    /// Refuses what would let strangers in, or cannot work.
    ///
    /// # Errors
    /// What is wrong, and what to do.
    pub fn check(&self) -> Result<(), FleetServeError> {
        let place = self.place()?;
        if let FleetBind::Address(address) = &place
            && !address.ip().is_loopback()
        {
            if !self.has_login() {
                return Err(wrong(
                    "bind",
                    &format!(
                        "{} is an address that others reach, and nobody has to log in: add [[token]], [proxy] or [oidc], or listen on 127.0.0.1",
                        address.ip()
                    ),
                ));
            }
            if self.tls.is_none() && !self.plain_http {
                return Err(wrong(
                    "bind",
                    &format!(
                        "{} is an address that others reach, and tokens would go to it unencrypted: add [tls], or plain_http = true where the network is your own",
                        address.ip()
                    ),
                ));
            }
        }
        if matches!(place, FleetBind::Unix(_)) && !self.has_login() {
            return Err(wrong(
                "bind",
                "a socket is for a proxy, and nobody has to log in: add [proxy], [[token]] or [oidc]",
            ));
        }
        for token in &self.token {
            let name = format!("token {}", token.name);
            if token.roles.is_empty() {
                return Err(wrong(&name, "it has no roles: write roles = [\"read\"]"));
            }
            if token.sha256.is_some() == token.file.is_some() {
                return Err(wrong(&name, "it takes either sha256 or file"));
            }
        }
        if let Some(proxy) = &self.proxy {
            if proxy.from.is_empty() {
                return Err(wrong(
                    "proxy",
                    "whoever sends the header would be believed: name the proxy's addresses in from",
                ));
            }
            for from in proxy.from.iter().filter(|from| *from != "unix") {
                from.parse::<IpAddr>()
                    .map_err(|_| wrong("proxy.from", &format!("{from} is no address, and not \"unix\"")))?;
            }
        }
        if let Some(oidc) = &self.oidc {
            if self.url.is_none() {
                return Err(wrong(
                    "oidc",
                    "the provider has to send people back: name the address that browsers use in url",
                ));
            }
            let is_near = oidc
                .issuer
                .host_str()
                .is_some_and(|host| matches!(host, "127.0.0.1" | "localhost" | "[::1]"));
            if oidc.issuer.scheme() != "https" && !is_near {
                return Err(wrong("oidc.issuer", "it has to be an address with https"));
            }
        }
        for ring in &self.ring {
            let is_near =
                ring.url.host_str().is_some_and(|host| matches!(host, "127.0.0.1" | "localhost" | "[::1]"));
            if ring.url.scheme() != "https" && !is_near {
                return Err(wrong(
                    &format!("ring {}", ring.host),
                    "its token would go there unencrypted: name an address with https, or the end of a tunnel on this machine",
                ));
            }
        }
        Ok(())
    }
}

fn wrong(place: &str, reason: &str) -> FleetServeError {
    FleetServeError::Settings { place: place.to_string(), reason: reason.to_string() }
}

/// The secret in the first line of a file.
///
/// # Errors
/// If it cannot be read, or is shorter than a token has to be.
pub(crate) fn secret(path: &Path) -> Result<String, FleetServeError> {
    let wrong = |reason: String| FleetServeError::Settings { place: path.display().to_string(), reason };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let secret = text.lines().next().unwrap_or_default().trim();
    if secret.len() < SHORTEST_TOKEN {
        return Err(wrong(format!("its first line has fewer than {SHORTEST_TOKEN} characters")));
    }
    Ok(secret.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> String {
        let settings: FleetServeSettings = toml::from_str(text).unwrap();
        settings.check().map_or_else(|error| error.to_string(), |()| "fine".to_string())
    }

    const TOKEN: &str = "[[token]]\nname='a'\nfile='t'\nroles=['read']\n";

    #[test]
    fn nobody_listens_to_others_without_a_login_and_encryption() {
        assert_eq!(said(""), "fine");
        assert!(said("bind = 'unix:/run/x'").contains("nobody has to log in"));
        assert_eq!(said(&format!("bind = 'unix:/run/x'\n{TOKEN}")), "fine");
        assert!(said("bind = '0.0.0.0:80'").contains("nobody has to log in"));
        assert!(said(&format!("bind = '0.0.0.0:80'\n{TOKEN}")).contains("unencrypted"));
        assert_eq!(said(&format!("bind = '0.0.0.0:80'\nplain_http = true\n{TOKEN}")), "fine");
        assert_eq!(
            said(&format!("bind = '[::]:80'\ntls = {{ certificate = 'c', key = 'k' }}\n{TOKEN}")),
            "fine"
        );
        assert!(said("bind = 'here'").contains("is no address"));
    }

    #[test]
    fn what_would_believe_everybody_is_refused() {
        assert!(said("[proxy]\nfrom=[]\nuser='x-user'\nroles={read=['*']}").contains("would be believed"));
        assert!(
            said("[proxy]\nfrom=['10.0.0.0/8']\nuser='x-user'\nroles={read=['*']}").contains("is no address")
        );
        assert_eq!(said("[proxy]\nfrom=['unix','127.0.0.1']\nuser='x-user'\nroles={read=['*']}"), "fine");
        assert!(said("[[token]]\nname='a'\nfile='t'\nroles=[]").contains("no roles"));
        assert!(said("[[token]]\nname='a'\nroles=['read']").contains("either sha256 or file"));
        let oidc = "[oidc]\nissuer='http://idp.example'\nclient_id='w'\nroles={}";
        assert!(said(oidc).contains("browsers use in url"));
        assert!(said(&format!("url='https://f.example'\n{oidc}")).contains("with https"));
        assert!(
            said("[[ring]]\nhost='a'\nurl='http://10.0.0.7:9911'\ntoken_file='t'").contains("unencrypted")
        );
        assert!(
            toml::from_str::<FleetServeSettings>("tokens = []")
                .unwrap_err()
                .to_string()
                .contains("unknown field")
        );
    }

    #[test]
    fn groups_have_roles() {
        let groups = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<String>>();
        let roles = RoleGroups { read: groups(&["*"]), dump: groups(&["sre"]), record: groups(&["lead"]) };
        assert_eq!(roles.of(&[]), BTreeSet::from([FleetRole::Read]));
        assert_eq!(roles.of(&["sre".into()]), BTreeSet::from([FleetRole::Read, FleetRole::Dump]));
        let all = BTreeSet::from([FleetRole::Read, FleetRole::Dump, FleetRole::Record]);
        assert_eq!(roles.of(&groups(&["staff", "lead"])), all);
        assert!(RoleGroups::default().of(&["sre".into()]).is_empty());
    }
}
