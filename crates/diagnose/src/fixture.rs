//! Findings and accounts for the unit tests of this crate.

use whyslow_model::{
    AccountRow, Finding, Saving, Severity, ShareOf, ShareWhole, Subject, TimeAccount, TimeOf, TimeState,
};

/// A warning of `id` about `pid`, of that part of all time.
pub(crate) fn finding(id: &'static str, pid: Option<u32>, share: Option<f64>) -> Finding {
    Finding {
        id,
        title: String::new(),
        severity: Severity::Warning,
        disagreement: false,
        confidence: None,
        sure_at_most: 1.0,
        share,
        share_of: ShareOf::default(),
        share_whole: ShareWhole::Time,
        measurements: Vec::new(),
        follows_from: None,
        saving: Saving::default(),
        subject: Subject { pid, ..Subject::default() },
        also: Vec::new(),
        at_most: Severity::Critical,
        cause: String::new(),
        fix: Vec::new(),
        chain: Vec::new(),
        culprit: None,
        code: None,
        evidence: Vec::new(),
        verify: String::new(),
    }
}

/// A row of process 1, a part of a thousand ns.
pub(crate) fn row(state: TimeState, call: Option<&str>, object: Option<&str>, ns: u64) -> AccountRow {
    AccountRow {
        pids: vec![1],
        call: call.map(str::to_string),
        object: object.map(str::to_string),
        share: ns as f64 / 1_000.0,
        ..AccountRow::new("app (1)".to_string(), state, ns)
    }
}

/// An account of these rows.
pub(crate) fn account(rows: Vec<AccountRow>) -> TimeAccount {
    let sum = |of: &dyn Fn(&AccountRow) -> bool| rows.iter().filter(|row| of(row)).map(|row| row.ns).sum();
    TimeAccount {
        target: "app (1)".to_string(),
        of: TimeOf::Threads,
        count: 1,
        ns: sum(&|_| true),
        idle_ns: 0,
        unknown_ns: sum(&|row| row.state == TimeState::Unknown),
        claimed_ns: 0,
        requests: Vec::new(),
        demand: whyslow_model::Demand::default(),
        rows,
    }
}
