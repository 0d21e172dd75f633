//! Login by OpenID Connect: the code flow with PKCE (RFC 7636), against what the provider says of itself (Discovery 1.0). Signatures are checked by
//! `jsonwebtoken`; what a token has to say (issuer, audience, times, nonce) is checked here, field by field.

use crate::audit::short;
use crate::error::FleetServeError;
use crate::settings::{OidcSettings, address, secret, some_address};
use crate::users::{FleetUser, Hash, hashed, random};
use jsonwebtoken::jwk::JwkSet;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use url::Url;

/// A login that takes longer is begun anew.
const PATIENCE: Duration = Duration::from_secs(600);
/// Logins that are under way at once.
const MOST_FLOWS: usize = 1_000;
/// The provider answers within this time.
const ANSWERS_WITHIN: Duration = Duration::from_secs(10);
/// Bytes of an answer at most.
const MOST_BYTES: usize = 1 << 20;
/// What the provider says of itself is asked again after this time, and not more often than the second, when a key is unknown.
const FRESH: Duration = Duration::from_secs(3_600);
const NOT_MORE_OFTEN: Duration = Duration::from_secs(30);
/// How far clocks may differ, seconds.
const LEEWAY: u64 = 60;
/// Signatures that are taken: those with a public key.
const ALGORITHMS: [Algorithm; 9] = [
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
    Algorithm::ES256,
    Algorithm::ES384,
    Algorithm::EdDSA,
];

/// What the provider says of itself.
#[derive(Clone, Deserialize)]
struct About {
    issuer: String,
    #[serde(deserialize_with = "address")]
    authorization_endpoint: Url,
    #[serde(deserialize_with = "address")]
    token_endpoint: Url,
    #[serde(deserialize_with = "address")]
    jwks_uri: Url,
    #[serde(default, deserialize_with = "some_address")]
    userinfo_endpoint: Option<Url>,
}

/// That, with its keys.
struct Provider {
    about: About,
    keys: JwkSet,
    asked: Instant,
}

/// A login that is under way.
struct Flow {
    nonce: String,
    verifier: String,
    next: String,
    begun: Instant,
}

/// What a token endpoint answers.
#[derive(Deserialize)]
struct TokenAnswer {
    id_token: String,
    access_token: Option<String>,
}

/// What an ID token says. A time of another type is no time, and the token none.
#[derive(Debug, Deserialize)]
struct Claims {
    iss: String,
    sub: String,
    aud: Audience,
    azp: Option<String>,
    exp: u64,
    iat: u64,
    nonce: Option<String>,
    preferred_username: Option<String>,
    email: Option<String>,
    #[serde(flatten)]
    more: serde_json::Map<String, serde_json::Value>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Many(Vec<String>),
}

/// The way to the provider.
pub(crate) struct Oidc {
    settings: OidcSettings,
    secret: Option<String>,
    redirect: String,
    client: reqwest::Client,
    provider: tokio::sync::Mutex<Option<Arc<Provider>>>,
    flows: Mutex<HashMap<Hash, Flow>>,
}

impl Oidc {
    /// Asks nothing yet. `url` is the address that browsers use.
    ///
    /// # Errors
    /// If the secret cannot be read.
    pub(crate) fn new(settings: &OidcSettings, url: &Url) -> Result<Oidc, FleetServeError> {
        let wrong = |reason: String| FleetServeError::Settings { place: "oidc".to_string(), reason };
        let secret = settings.client_secret_file.as_deref().map(secret).transpose()?;
        let redirect =
            url.join("/login/oidc/callback").map_err(|error| wrong(error.to_string()))?.to_string();
        Ok(Oidc {
            settings: settings.clone(),
            secret,
            redirect,
            client: client().map_err(|error| wrong(error.to_string()))?,
            provider: tokio::sync::Mutex::default(),
            flows: Mutex::default(),
        })
    }

    /// Begins a login that leads to `next`: where the browser is to go, and the state that it is to bring back.
    ///
    /// # Errors
    /// Why the provider cannot be asked.
    pub(crate) async fn begin(&self, next: &str) -> Result<(Url, String), String> {
        let provider = self.provider(FRESH).await?;
        let made = || random().map_err(|error| error.to_string());
        let (state, nonce, verifier) = (made()?, made()?, made()?);
        let challenge = base64url(&Sha256::digest(verifier.as_bytes()));
        let mut scopes = vec!["openid"];
        scopes.extend(self.settings.scopes.iter().map(String::as_str).filter(|scope| *scope != "openid"));
        let mut to = provider.about.authorization_endpoint.clone();
        to.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.settings.client_id)
            .append_pair("redirect_uri", &self.redirect)
            .append_pair("scope", &scopes.join(" "))
            .append_pair("state", &state)
            .append_pair("nonce", &nonce)
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256");
        let mut flows = self.flows.lock().unwrap_or_else(PoisonError::into_inner);
        flows.retain(|_, flow| flow.begun.elapsed() < PATIENCE);
        if flows.len() >= MOST_FLOWS {
            return Err("too many logins are under way".to_string());
        }
        flows.insert(hashed(&state), Flow { nonce, verifier, next: next.to_string(), begun: Instant::now() });
        Ok((to, state))
    }

    /// Ends a login: who it is, and where they wanted to go. A state is good for one time.
    ///
    /// # Errors
    /// Why it is none.
    pub(crate) async fn finish(&self, state: &str, code: &str) -> Result<(FleetUser, String), String> {
        let flow = self.flows.lock().unwrap_or_else(PoisonError::into_inner).remove(&hashed(state));
        let flow = flow.filter(|flow| flow.begun.elapsed() < PATIENCE);
        let flow = flow.ok_or("this login was begun too long ago, or was used already")?;
        let provider = self.provider(FRESH).await?;
        let mut form = vec![
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", &self.redirect),
            ("code_verifier", &flow.verifier),
        ];
        let mut request = self.client.post(provider.about.token_endpoint.clone());
        match &self.secret {
            Some(secret) => {
                request =
                    request.basic_auth(form_encoded(&self.settings.client_id), Some(form_encoded(secret)))
            }
            None => form.push(("client_id", &self.settings.client_id)),
        }
        let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        request = request.header("content-type", "application/x-www-form-urlencoded").body(body);
        let tokens: TokenAnswer = answer(request, "the token endpoint").await?;
        let claims = self.claims(&tokens.id_token, &flow.nonce).await?;
        let mut groups = claims.more.get(&self.settings.claim).map(texts);
        if groups.is_none()
            && let (Some(to), Some(token)) = (&provider.about.userinfo_endpoint, &tokens.access_token)
        {
            let said: serde_json::Value =
                answer(self.client.get(to.clone()).bearer_auth(token), "the userinfo endpoint").await?;
            if said["sub"] != claims.sub.as_str() {
                return Err("the userinfo endpoint told of somebody else".to_string());
            }
            groups = said.get(&self.settings.claim).map(texts);
        }
        let name = claims.preferred_username.or(claims.email).unwrap_or(claims.sub);
        let roles = self.settings.roles.of(&groups.unwrap_or_default());
        Ok((FleetUser { name: short(&name), how: "oidc", roles }, flow.next))
    }

    /// What an ID token says, once its signature and all that it has to say are as they must be (OpenID Connect Core 1.0, 3.1.3.7).
    async fn claims(&self, token: &str, nonce: &str) -> Result<Claims, String> {
        let head = decode_header(token).map_err(|error| format!("the ID token is none: {error}"))?;
        if !ALGORITHMS.contains(&head.alg) {
            return Err(format!("the ID token is signed by {:?}, which is not taken", head.alg));
        }
        let mut provider = self.provider(FRESH).await?;
        let mut key = key_of(&provider.keys, head.kid.as_deref());
        if key.is_none() {
            // It may be a new one.
            provider = self.provider(NOT_MORE_OFTEN).await?;
            key = key_of(&provider.keys, head.kid.as_deref());
        }
        let key = key.ok_or("the ID token is signed with a key that the provider does not name")?;
        let key =
            DecodingKey::from_jwk(key).map_err(|error| format!("the provider's key is none: {error}"))?;
        let mut validation = Validation::new(head.alg);
        validation.leeway = LEEWAY;
        // Who it is for, and by whom and when, is judged below, by fields with types.
        validation.validate_aud = false;
        let claims = decode::<Claims>(token, &key, &validation);
        let claims = claims.map_err(|error| format!("the ID token is not taken: {error}"))?.claims;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        judge(&claims, &provider.about.issuer, &self.settings.client_id, nonce, now)?;
        Ok(claims)
    }

    /// What the provider says of itself, no older than that.
    async fn provider(&self, age: Duration) -> Result<Arc<Provider>, String> {
        let mut known = self.provider.lock().await;
        if let Some(provider) = known.as_ref().filter(|provider| provider.asked.elapsed() < age) {
            return Ok(provider.clone());
        }
        let issuer = self.settings.issuer.as_str().trim_end_matches('/');
        let place = format!("{issuer}/.well-known/openid-configuration");
        let about: About = answer(self.client.get(&place), &place).await?;
        if about.issuer.trim_end_matches('/') != issuer {
            return Err(format!("{place} tells of another issuer: {}", short(&about.issuer)));
        }
        let keys: JwkSet = answer(self.client.get(about.jwks_uri.clone()), "the provider's keys").await?;
        let provider = Arc::new(Provider { about, keys, asked: Instant::now() });
        *known = Some(provider.clone());
        Ok(provider)
    }
}

/// A client that follows nothing: an endpoint that sends elsewhere is none.
pub(crate) fn client() -> reqwest::Result<reqwest::Client> {
    reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).timeout(ANSWERS_WITHIN).build()
}

fn judge(claims: &Claims, issuer: &str, client: &str, nonce: &str, now: u64) -> Result<(), String> {
    let refuse = |what: &str| Err(format!("the ID token is not taken: {what}"));
    if claims.iss != issuer {
        return refuse("it is of another issuer");
    }
    let (is_for, others) = match &claims.aud {
        Audience::One(one) => (one == client, false),
        Audience::Many(all) => (all.iter().any(|one| one == client), all.len() > 1),
    };
    if !is_for {
        return refuse("it is for another client");
    }
    if claims.azp.as_deref().is_some_and(|azp| azp != client) || others && claims.azp.is_none() {
        return refuse("it was given to another client");
    }
    if claims.exp.saturating_add(LEEWAY) <= now {
        return refuse("it is too old");
    }
    if claims.iat > now.saturating_add(LEEWAY) {
        return refuse("it is of the future");
    }
    if claims.nonce.as_deref() != Some(nonce) {
        return refuse("it answers another login");
    }
    Ok(())
}

fn key_of<'k>(keys: &'k JwkSet, id: Option<&str>) -> Option<&'k jsonwebtoken::jwk::Jwk> {
    match id {
        Some(id) => keys.find(id),
        // Without a name it is the only one.
        None => keys.keys.first().filter(|_| keys.keys.len() == 1),
    }
}

/// A claim's texts: one, or a list.
fn texts(value: &serde_json::Value) -> Vec<String> {
    match value {
        serde_json::Value::String(one) => vec![one.clone()],
        serde_json::Value::Array(all) => {
            all.iter().filter_map(|one| one.as_str().map(str::to_string)).collect()
        }
        _ => Vec::new(),
    }
}

/// What an endpoint answers, as JSON. Neither an answer nor an error of it is told with what it holds: it may hold secrets.
async fn answer<T: DeserializeOwned>(request: reqwest::RequestBuilder, who: &str) -> Result<T, String> {
    let trouble = |error: reqwest::Error| format!("{who} does not answer: {}", error.without_url());
    let mut response = request.header("accept", "application/json").send().await.map_err(trouble)?;
    let status = response.status();
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(trouble)? {
        body.extend_from_slice(&piece);
        if body.len() > MOST_BYTES {
            return Err(format!("{who} answers with more than {MOST_BYTES} bytes"));
        }
    }
    if !status.is_success() {
        let said: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
        let said = said["error"].as_str().map(|error| format!(" ({})", short(error))).unwrap_or_default();
        return Err(format!("{who} answers {}{said}", status.as_u16()));
    }
    serde_json::from_slice(&body).map_err(|_| format!("{who} answers something else than what was expected"))
}

/// RFC 6749, 2.3.1: names and secrets are encoded as forms are before they stand in a header.
fn form_encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// Base64 for addresses, without padding (RFC 4648, 5).
fn base64url(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let all = three.iter().fold(0u32, |all, byte| all << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for at in 0..=three.len() {
            out.push(DIGITS[(all >> (18 - 6 * at) & 63) as usize] as char);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn claims(change: impl FnOnce(&mut serde_json::Value)) -> Result<(), String> {
        let mut value = json!({
            "iss": "https://idp.example", "sub": "1", "aud": "whyslow", "exp": 2_000, "iat": 1_000, "nonce": "n", "groups": ["sre"],
        });
        change(&mut value);
        let claims: Claims = serde_json::from_value(value).map_err(|error| error.to_string())?;
        judge(&claims, "https://idp.example", "whyslow", "n", 1_500)
    }

    #[test]
    fn a_token_that_says_something_else_is_refused() {
        assert_eq!(claims(|_| ()), Ok(()));
        assert_eq!(claims(|token| token["aud"] = json!(["whyslow"])), Ok(()));
        for (field, value, says) in [
            ("iss", json!("https://evil.example"), "another issuer"),
            ("aud", json!("other"), "another client"),
            ("aud", json!(["whyslow", "other"]), "given to another client"),
            ("azp", json!("other"), "given to another client"),
            ("exp", json!(1_400), "too old"),
            ("exp", json!("9999999999"), "invalid type"),
            ("iat", json!(9_000), "of the future"),
            ("nonce", json!("m"), "another login"),
            ("nonce", json!(null), "another login"),
        ] {
            let said = claims(|token| token[field] = value.clone()).unwrap_err();
            assert!(said.contains(says), "{field} {value}: {said}");
        }
        assert!(
            claims(|token| {
                token.as_object_mut().unwrap().remove("exp");
            })
            .is_err()
        );
    }

    #[test]
    fn challenges_are_those_of_the_standard() {
        // RFC 7636, appendix B.
        let digest = Sha256::digest(b"dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
        assert_eq!(base64url(&digest), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
        assert_eq!(
            [base64url(b""), base64url(b"f"), base64url(b"fo"), base64url(b"foo")],
            ["", "Zg", "Zm8", "Zm9v"]
        );
    }

    #[test]
    fn groups_are_one_text_or_several() {
        assert_eq!(texts(&json!("a")), ["a"]);
        assert_eq!(texts(&json!(["a", 1, "b"])), ["a", "b"]);
        assert!(texts(&json!({ "a": 1 })).is_empty());
    }
}
