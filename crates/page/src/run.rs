//! One run as a page has it.

use crate::data::{PageRun, PageStacks};
use crate::leads::{Leads, ObjectNames};
use crate::plan::Plan;
use crate::reader::{PageReader, Read};
use crate::texts::{Texts, shown};
use crate::threads::Threads;
use crate::time::{TimeOf, figure};
use crate::{requests, stacks, tables, waits};
use serde_json::Value;
use std::io;
use whyslow_account::WorkWaits;
use whyslow_model::figures::percent;
use whyslow_model::{AccountRow, Diagnosis, Nanos, Profile, TimeAccount, TimeState};
use whyslow_profile::Sampled;
use whyslow_report::{HtmlPart, JSON, Style};

/// Rows of the account; smaller ones are joined by their state.
const ROWS: usize = 200;
/// Threads whose time the report tells.
const THREADS: usize = 200;

/// One recording, or captures read as one, with what was found in it.
pub struct PageSide {
    name: String,
    read: Read,
    on_cpu: Option<Profile>,
    off_cpu: Option<Profile>,
    work: WorkWaits,
    diagnosis: Diagnosis,
    json: Value,
    show_secrets: bool,
    cut: Vec<String>,
}

impl PageSide {
    /// Of what was read under that name, and what was found in it. The facts must be finished.
    ///
    /// # Errors
    /// None that is expected: what writes into memory does not fail.
    pub fn new(
        name: &str,
        reader: PageReader,
        diagnosis: &Diagnosis,
        show_secrets: bool,
    ) -> io::Result<PageSide> {
        let mut read = reader.finish()?;
        let take =
            |sampled: &mut Sampled, kind| stacks::profile_of(std::mem::replace(sampled, Sampled::new(kind)));
        let on_cpu = take(&mut read.on_cpu, whyslow_model::SampleKind::OnCpu);
        let off_cpu = take(&mut read.off_cpu, whyslow_model::SampleKind::OffCpu);
        let mut cut = Vec::new();
        let diagnosis = bounded(diagnosis, &mut cut);
        let style = Style { show_secrets, ..Style::default() };
        let mut json = Vec::new();
        JSON.diagnosis(&diagnosis, &style, &mut json)?;
        Ok(PageSide {
            name: shown(name, show_secrets).into_owned(),
            work: WorkWaits::of(&read.facts),
            read,
            on_cpu,
            off_cpu,
            diagnosis,
            json: serde_json::from_slice(&json)?,
            show_secrets,
            cut,
        })
    }

    /// The name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The report, readable without scripts.
    pub(crate) fn report(&self) -> HtmlPart {
        let style = Style { show_secrets: self.show_secrets, ..Style::default() };
        HtmlPart::of_diagnosis(&self.diagnosis, &style)
    }

    /// What the scripts draw, as far as there is room.
    pub(crate) fn data(&self, plan: &Plan) -> PageRun {
        let facts = &self.read.facts;
        let mut texts = Texts::new(self.show_secrets);
        let mut left_out = self.cut.clone();
        let threads = Threads::of(&self.read, plan.threads, &mut texts);
        if threads.left_out != (0, 0) {
            let (count, ns) = threads.left_out;
            left_out.push(format!(
                "{} threads, those with the least time: {} in all",
                figure(count as u64),
                Nanos::new(ns)
            ));
        }
        let without_time = self.read.counts.calls_without_time;
        if without_time > 0 {
            left_out.push(format!("{} calls of which no time is known", figure(without_time)));
        }
        let names = ObjectNames::of(facts);
        let time = TimeOf {
            read: &self.read,
            threads: &threads,
            work: &self.work,
            diagnosis: &self.diagnosis,
            names: &names,
        };
        let timeline = time.timeline(plan, &mut texts, &mut left_out);
        let requests = requests::requests(facts, &threads, plan.requests, &mut texts);
        let requests = requests.map(|(requests, missing)| {
            if missing > 0 {
                let all = facts.requests.count();
                left_out.push(format!(
                    "{} of {} requests one by one: kept are the slowest and the failed of each endpoint",
                    figure(missing),
                    figure(all)
                ));
            }
            requests
        });
        let (waits, missing) = waits::waits(facts, &threads, &self.work, plan.waits, &mut texts);
        if missing > 0 {
            left_out.push(format!(
                "{} pairs of who waits and for whom, the shortest waits",
                figure(missing as u64)
            ));
        }
        let stacks = self.stacks(plan, &mut texts, &mut left_out);
        let (host, missing) = self.read.host.finish(facts.window.start.or_zero());
        left_out.extend(missing);
        let leads = Leads::new(&names, &threads, &timeline.slices);
        let account = self.diagnosis.account.as_ref();
        let account = account.map_or_else(Vec::new, |account| leads.of_account(account, &texts));
        let tables = tables::tables(facts, plan.rows, self.show_secrets, (&leads, &texts));
        PageRun {
            name: self.name.clone(),
            kind: if facts.capture.is_recording() { "recording" } else { "capture" },
            length: facts.window.whole().or_zero(),
            started: self.diagnosis.target.start.clone(),
            origin: facts.window.start.get().map(|start| start.to_string()),
            diagnosis: self.json.clone(),
            threads: threads.threads,
            timeline,
            requests,
            waits,
            stacks,
            tables,
            account,
            host,
            left_out,
            texts: texts.finish(),
        }
    }

    fn stacks(&self, plan: &Plan, texts: &mut Texts, left_out: &mut Vec<String>) -> Option<PageStacks> {
        let (stacks, missing) = stacks::stacks(&self.on_cpu, &self.off_cpu, plan.frames, texts)?;
        if missing > 0 {
            left_out.push(format!(
                "{} frames of stacks, the lightest ones: their weight stands in [left out] below the frame above",
                figure(missing as u64)
            ));
        }
        Some(stacks)
    }
}

/// The diagnosis, without what only makes it long. Sums stay.
fn bounded(diagnosis: &Diagnosis, cut: &mut Vec<String>) -> Diagnosis {
    let mut diagnosis = diagnosis.clone();
    if let Some(account) = &mut diagnosis.account {
        join_small(account, cut);
    }
    let more = diagnosis.time.len().saturating_sub(THREADS);
    if more > 0 {
        diagnosis.time.truncate(THREADS);
        cut.push(format!("{} threads of the report's list, the least busy ones", figure(more as u64)));
    }
    diagnosis
}

/// Joins the smallest rows of an account by their state.
fn join_small(account: &mut TimeAccount, cut: &mut Vec<String>) {
    if account.rows.len() <= ROWS {
        return;
    }
    let small = account.rows.split_off(ROWS);
    let share = small.iter().map(|row| row.share).sum::<f64>();
    cut.push(format!(
        "{} of {} rows of the account, the smallest: together {} of it, in one row for each state",
        figure(small.len() as u64),
        figure((ROWS + small.len()) as u64),
        percent(share)
    ));
    let mut joined: Vec<(TimeState, u64, AccountRow)> = Vec::new();
    for row in small {
        match joined.iter_mut().find(|(state, _, _)| *state == row.state) {
            Some((_, rows, sum)) => {
                *rows += 1;
                sum.ns = sum.ns.saturating_add(row.ns);
                sum.share += row.share;
                sum.known = sum.known.max(row.known);
            }
            None => {
                let mut sum = AccountRow::new(String::new(), row.state, row.ns);
                (sum.share, sum.known) = (row.share, row.known);
                joined.push((row.state, 1, sum));
            }
        }
    }
    for (_, rows, mut row) in joined {
        row.who = format!("others ({} smaller rows)", figure(rows));
        row.threads = rows;
        account.rows.push(row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_model::{Demand, TimeOf};

    #[test]
    fn an_account_keeps_its_sum() {
        let row = |at: u64| {
            let state = if at.is_multiple_of(2) { TimeState::Lock } else { TimeState::File };
            AccountRow { share: 0.001, ..AccountRow::new(format!("t{at}"), state, 10_000 - at) }
        };
        let mut account = TimeAccount {
            target: "x".to_string(),
            of: TimeOf::Threads,
            count: 1,
            ns: 0,
            idle_ns: 0,
            unknown_ns: 0,
            claimed_ns: 0,
            requests: Vec::new(),
            demand: Demand::default(),
            rows: (0..1_000).map(row).collect(),
        };
        let sum = |account: &TimeAccount| account.rows.iter().map(|row| row.ns).sum::<u64>();
        let (before, mut cut) = (sum(&account), Vec::new());
        join_small(&mut account, &mut cut);
        assert_eq!((sum(&account), account.rows.len(), cut.len()), (before, ROWS + 2, 1));
        assert!(cut[0].starts_with("800 of 1,000 rows of the account"), "{cut:?}");
    }
}
