//! The diagnosis of a host by its own figures: no finding contradicts what the host check says of its resource.

use super::*;
use whyslow_model::walk::State;
use whyslow_model::{Entity, Event, FigureRow, FigureTable, Metric, Nanos, Over, Severity, Sink, SourceId};

fn of_host(figures: &[(Metric, f64)]) -> Diagnosis {
    let mut table = FigureTable::new(SourceId(0), "vmstat");
    table.over = Over::Interval(Nanos::from_secs(10));
    let mut row = FigureRow::new(Entity::Host);
    figures.iter().for_each(|(metric, value)| row.set(*metric, *value));
    table.rows.push(row);
    let mut facts = Facts::default();
    facts.push(Event::Figures(Box::new(table)));
    facts.finish();
    diagnose(&facts)
}

fn state(diagnosis: &Diagnosis, name: &str) -> Option<State> {
    let walk = diagnosis.walk.as_ref()?;
    walk.resources.iter().find(|one| one.name == name).map(|one| one.state)
}

fn warns(diagnosis: &Diagnosis, id: &str) -> bool {
    diagnosis.findings.iter().any(|one| one.id == id && one.severity >= Severity::Warning)
}

#[test]
fn a_warning_about_steal_means_that_the_cpus_are_saturated() {
    let mut warned = 0;
    for steal in [0.01, 0.04, 0.06, 0.12, 0.30, 0.60] {
        for idle in [0.0, 0.04, 0.09, 0.15, 0.40] {
            let busy = 1.0 - steal - idle;
            let told = of_host(&[
                (Metric::CpuIdle, idle),
                (Metric::CpuUser, busy),
                (Metric::CpuSystem, 0.0),
                (Metric::CpuSteal, steal),
            ]);
            if warns(&told, "steal-time") {
                warned += 1;
                assert_eq!(state(&told, "CPU"), Some(State::Saturated), "steal {steal}, idle {idle}");
            }
        }
    }
    assert!(warned > 5, "{warned}");
}

#[test]
fn a_warning_about_retransmits_means_that_the_network_is_saturated() {
    let mut warned = 0;
    for share in [0.005, 0.015, 0.025, 0.08] {
        let told = of_host(&[
            (Metric::TcpSegmentsOut, 1_000.0),
            (Metric::TcpRetransmits, share * 1_000.0),
            (Metric::TcpTimeouts, 5.0),
        ]);
        if warns(&told, "tcp-retransmit") {
            warned += 1;
            assert_eq!(state(&told, "network"), Some(State::Saturated), "{share}");
        }
    }
    assert_eq!(warned, 2);
}
