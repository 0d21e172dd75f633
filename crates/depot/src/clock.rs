//! How far our clock is from that of the store's server: its answers say when they were made.

use async_trait::async_trait;
use jiff::fmt::rfc2822;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpRequest, HttpResponse, HttpService, ReqwestConnector,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::SystemTime;

/// No answer had a time yet.
const UNKNOWN: i64 = i64::MIN;

/// How far our clock is ahead of the server's, as the last answer told.
#[derive(Clone, Debug)]
pub(crate) struct ServerClock(Arc<AtomicI64>);

impl Default for ServerClock {
    fn default() -> ServerClock {
        ServerClock(Arc::new(AtomicI64::new(UNKNOWN)))
    }
}

impl ServerClock {
    /// Nanoseconds; negative where ours is behind. Servers tell whole seconds: half a second either way is nothing.
    pub(crate) fn ahead_ns(&self) -> Option<i64> {
        let ahead = self.0.load(Ordering::Relaxed);
        (ahead != UNKNOWN).then_some(ahead)
    }

    fn note(&self, date: &str, sent: SystemTime, received: SystemTime) {
        if let Some(ahead) = ahead(date, sent, received) {
            self.0.store(ahead, Ordering::Relaxed);
        }
    }
}

/// How far the middle between sending and receiving is ahead of the middle of the server's second.
fn ahead(date: &str, sent: SystemTime, received: SystemTime) -> Option<i64> {
    let since_1970 =
        |time: SystemTime| i64::try_from(time.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_nanos()).ok();
    let (sent, received) = (since_1970(sent)?, since_1970(received)?);
    let theirs = rfc2822::parse(date).ok()?.timestamp().as_second().checked_mul(1_000_000_000)?;
    Some(sent / 2 + received / 2 - theirs - 500_000_000)
}

/// Makes clients that note the time of each answer.
#[derive(Debug)]
pub(crate) struct ClockConnector(pub(crate) ServerClock);

impl HttpConnector for ClockConnector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let client = ReqwestConnector::default().connect(options)?;
        Ok(HttpClient::new(Watched { client, clock: self.0.clone() }))
    }
}

#[derive(Debug)]
struct Watched {
    client: HttpClient,
    clock: ServerClock,
}

#[async_trait]
impl HttpService for Watched {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let sent = SystemTime::now();
        let answer = self.client.execute(request).await?;
        if let Some(date) = answer.headers().get("date").and_then(|date| date.to_str().ok()) {
            self.clock.note(date, sent, SystemTime::now());
        }
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_skew_is_between_the_middles() {
        // 2026-11-27 03:12:40 UTC.
        let at = |millis: u64| SystemTime::UNIX_EPOCH + Duration::from_millis(1_795_749_160_000 + millis);
        let date = "Fri, 27 Nov 2026 03:12:40 GMT";
        assert_eq!(ahead(date, at(400), at(600)), Some(0));
        assert_eq!(ahead(date, at(60_400), at(60_600)), Some(60_000_000_000));
        assert_eq!(ahead("Fri, 27 Nov 2026 03:13:40 GMT", at(400), at(600)), Some(-60_000_000_000));
        assert_eq!(ahead("yesterday", at(400), at(600)), None);
        let clock = ServerClock::default();
        clock.note("nonsense", at(0), at(0));
        assert_eq!(clock.ahead_ns(), None);
    }
}
