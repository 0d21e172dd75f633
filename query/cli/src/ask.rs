//! Asking a database, and what is to be told of its inputs meanwhile.

use tokio::runtime::Runtime;
use whyslow_query_engine::{Database, QueryAnswer, QueryError, QueryLimits};

/// Asks with what may stop it: Ctrl-C.
pub(crate) struct Asker<'a> {
    pub(crate) runtime: &'a Runtime,
    pub(crate) database: &'a Database,
    pub(crate) limits: QueryLimits,
}

impl Asker<'_> {
    pub(crate) fn ask(&self, sql: &str) -> Result<QueryAnswer, QueryError> {
        self.runtime.block_on(async {
            tokio::select! {
                answer = self.database.query(sql, self.limits) => answer,
                _ = tokio::signal::ctrl_c() => Err(QueryError::Interrupted),
            }
        })
    }
}

/// What was told of the inputs.
#[derive(Default)]
pub(crate) struct Told(usize);

impl Told {
    /// Tells what is new.
    pub(crate) fn tell(&mut self, database: &Database) {
        let remarks = database.remarks();
        for remark in remarks.iter().skip(self.0) {
            crate::complain(remark);
        }
        self.0 = remarks.len();
    }
}
