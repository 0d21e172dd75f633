//! The exit status, and from which finding on it is a failure.

use clap::{Args, ValueEnum};
use std::process::ExitCode;
use whyslow_model::Severity;
use whyslow_rules::guards;

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Status {
    /// Done.
    Done,
    /// Done, and `--fail-on` asks to fail for what was found; for `doctor`: only the fallback works; for `check`: a limit is
    /// broken.
    Found,
    /// Done, and a limit of a budget could not be judged.
    NotJudged,
    /// Wrong usage, or nothing could be read.
    Unusable,
    /// A recorded command ended with this status, which is passed on.
    Command(u8),
}

impl Status {
    pub(crate) fn code(self) -> ExitCode {
        match self {
            Status::Done => ExitCode::SUCCESS,
            Status::Found => ExitCode::from(1),
            Status::Unusable => ExitCode::from(2),
            Status::NotJudged => ExitCode::from(3),
            Status::Command(status) => ExitCode::from(status),
        }
    }
}

/// From which severity on a finding makes the command fail.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum FailOn {
    /// A cause that costs a good part of the time.
    Warning,
    /// A cause that costs most of the time, or breaks the service.
    Critical,
}

impl FailOn {
    /// The status for findings of these severities.
    pub(crate) fn status(asked: Option<FailOn>, severities: impl IntoIterator<Item = Severity>) -> Status {
        let least = match asked {
            None => return Status::Done,
            Some(FailOn::Warning) => Severity::Warning,
            Some(FailOn::Critical) => Severity::Critical,
        };
        if severities.into_iter().any(|severity| severity >= least) { Status::Found } else { Status::Done }
    }
}

/// `--fail-on`, for the commands that find something.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct FailOnArg {
    /// Exit with status 1 if there is a finding of this severity or above
    #[arg(long, value_name = "SEVERITY", long_help = fail_on_help())]
    pub(crate) fail_on: Option<FailOn>,
}

fn fail_on_help() -> String {
    format!(
        "Exit with status 1 if there is a finding of this severity or above. A warning costs at least {:.0} % of the \
         time, a critical finding at least {:.0} %, or it breaks the service",
        guards::WARNING_SHARE * 100.0,
        guards::CRITICAL_SHARE * 100.0
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fail_on_fails_from_its_severity_on() {
        let found = [Severity::Notice, Severity::Warning];
        assert_eq!(FailOn::status(None, found), Status::Done);
        assert_eq!(FailOn::status(Some(FailOn::Warning), found), Status::Found);
        assert_eq!(FailOn::status(Some(FailOn::Critical), found), Status::Done);
    }
}
