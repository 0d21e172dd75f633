//! What all requests share.

use crate::answers::Answers;
use crate::audit::Audit;
use crate::guard::Guard;
use crate::oidc::Oidc;
use crate::rings::Rings;
use crate::settings::FleetServeSettings;
use crate::users::{Failures, Sessions, Tokens};
use whyslow_query_serve::RecordingPages;

/// It.
pub(crate) struct Site {
    pub(crate) settings: FleetServeSettings,
    pub(crate) guard: Guard,
    pub(crate) tokens: Tokens,
    pub(crate) sessions: Sessions,
    pub(crate) failures: Failures,
    pub(crate) oidc: Option<Oidc>,
    pub(crate) rings: Rings,
    pub(crate) audit: Audit,
    pub(crate) answers: Answers,
    pub(crate) pages: RecordingPages,
    /// Of this run of the server alone: forms are known by it.
    pub(crate) secret: String,
    /// Whom troubles are told that no browser is to hear.
    pub(crate) complain: fn(&str),
}

impl Site {
    pub(crate) fn complain(&self, said: &str) {
        (self.complain)(said);
    }
}
