//! The view `host`: is any resource full, and who takes of the host or waits for it.

use super::rows::finish;
use super::{Ask, AskError, View};
use whyslow_facts::Facts;
use whyslow_hostcheck as hostcheck;
use whyslow_model::walk::{Amount, Taker};
use whyslow_model::{Cell, Column, Table};

/// The view.
pub(super) static VIEW: View = View {
    name: "host",
    of_calls: false,
    summary: "the host: which resource is full, who takes, who waits",
    by: &[],
    table,
};

fn table(facts: &Facts, ask: &Ask) -> Result<Table, AskError> {
    let walk = hostcheck::walk(facts);
    let mut rows = Vec::new();
    let mut notes = Vec::new();
    match &walk {
        Some(walk) => {
            rows.extend(walk.resources.iter().map(|resource| {
                vec![
                    Cell::Text("resource".to_string()),
                    Cell::Text(resource.name.clone()),
                    Cell::Text(resource.state.words().to_string()),
                    Cell::Text(resource.reason.clone()),
                    Cell::Unknown,
                    Cell::text(Some(resource.supply.clone()).filter(|supply| !supply.is_empty())),
                ]
            }));
            for (kind, takers) in
                [("process", &walk.processes), ("thread", &walk.threads), ("call", &walk.calls)]
            {
                rows.extend(takers.iter().map(|taker| cells(kind, taker)));
            }
            notes.extend(walk.load.iter().chain(&walk.saving).chain([&walk.next]).cloned());
        }
        None => {
            notes.push("No input tells figures of the host: add top -b -n 2, iostat -x 1 5, pidstat -dur 1 5, vmstat 1 5.".to_string());
        }
    }
    let columns = vec![
        Column::new("kind", "kind"),
        Column::new("name", "name"),
        Column::optional("state", "state", 2),
        Column::new("takes", "why / takes"),
        Column::optional("waits", "waits", 1),
        Column::optional("supply", "what tells", 3),
    ];
    let question = "Which resource of the host is full, and who takes of it or waits for it?".to_string();
    finish(Table { name: VIEW.name, question, columns, rows, total: None, notes }, ask, "none")
}

fn cells(kind: &str, taker: &Taker) -> Vec<Cell> {
    let texts = |amounts: &[Amount]| {
        let texts: Vec<&str> = amounts.iter().map(|amount| amount.text.as_str()).collect();
        Cell::text(Some(texts.join(", ")).filter(|text| !text.is_empty()))
    };
    vec![
        Cell::Text(kind.to_string()),
        Cell::Text(hostcheck::name(taker)),
        Cell::text(taker.victim_of.as_ref().map(|full| format!("victim of {full}"))),
        texts(&taker.takes),
        texts(&taker.waits),
        Cell::Unknown,
    ]
}
