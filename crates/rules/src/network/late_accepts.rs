//! Connections that wait for a thread that accepts and sleeps, as a trace of its calls shows them.

use crate::engine::{Findings, Subjects};
use crate::gate::gated;
use crate::guards;
use crate::words;
use whyslow_facts::Facts;
use whyslow_facts::folds::late_accepts::LateAccepts;
use whyslow_model::{Measurement, Nanos, Severity, Subject};

/// Fewer sleeps are a start, or a chance.
const FEW: u64 = 5;
/// After this part of the sleeps several connections were there.
const MOSTLY: f64 = 0.8;

/// True where there are some.
#[gated]
pub(super) fn report(facts: &Facts, out: &mut Findings<'_>) -> bool {
    let is_late = |row: &&LateAccepts| row.late >= FEW && row.late as f64 >= MOSTLY * row.sleeps as f64;
    let mut late: Vec<&LateAccepts> = facts.late_accepts.rows.iter().filter(is_late).collect();
    late.sort_by_key(|row| std::cmp::Reverse((row.late_ns, row.late)));
    for row in &late {
        report_row(facts, out, row);
    }
    !late.is_empty()
}

fn report_row(facts: &Facts, out: &mut Findings<'_>, row: &LateAccepts) {
    let share = guards::share_of_ns(facts, Some(row.tid), Nanos::new(row.late_ns), row.late);
    let of_time = share.figure();
    let name = row.local.as_deref().map_or(format!("the listening socket fd {}", row.fd), str::to_string);
    let mean = Measurement::time("sleep", Nanos::new(row.late_ns / row.late.max(1)));
    let sleeps = Measurement::count("sleeps_with_several", row.late).at_least(FEW as f64);
    let part =
        Measurement::share("share_of_sleeps", row.late as f64 / row.sleeps.max(1) as f64).at_least(MOSTLY);
    let (fewest, most) = (
        Measurement::count("connections_fewest", row.fewest),
        Measurement::count("connections_most", row.most),
    );
    let there = match row.fewest == row.most {
        true => format!("{most}"),
        false => format!("{fewest} to {most}"),
    };
    // Who finds as many each time has found all that there is room for, or all clients that there are.
    let full = match row.fewest == row.most {
        true => format!(
            " It is {most} each time: as many as there is room for, or as there are clients. What finds no room is dropped, and its client tries again after 1 s, 3 s, 7 s."
        ),
        false => " Where they are more than there is room for, the kernel drops the rest, and their clients try again after 1 s, 3 s, 7 s.".to_string(),
    };
    let port = name.rsplit_once(':').map_or("PORT", |(_, port)| port);
    out.report(share, format!("{name}: connections wait in the backlog while the thread that accepts sleeps {mean}: {there} are there after each of {sleeps} sleeps"))
        // How long each of them waited, and whether some were dropped, calls do not tell.
        .at_most(Severity::Warning)
        .measured_all([mean, sleeps, part, fewest, most, of_time])
        .subject(Subject {
            peer: row.local.as_deref().map(str::to_string),
            fd: Some(row.fd),
            syscall: Some("accept".to_string()),
            ..Subjects::thread(facts, row.tid)
        })
        .cause(format!(
            "Thread {} sleeps before it accepts again, and {} came meanwhile, in all. Each of them waited for it in the queue of the socket.{full}",
            row.tid,
            words::plural(row.connections, "connection"),
        ))
        .fix("accept in a thread that does nothing else; do what has to wait (a limit, a pause, a device) behind it, with a queue of its own")
        .fix("a longer queue: listen(fd, 4096) in the program, and sysctl -w net.core.somaxconn=4096 (the smaller of the two counts)")
        .verify(format!("nstat -az TcpExtListenOverflows TcpExtListenDrops   (whether some are dropped); ss -ltn 'sport = :{port}' (Recv-Q: how many wait)"))
        .saving(Nanos::new(row.late_ns))
        .evidence(Some(&row.sleep_line))
        .evidence(row.accept_line.as_ref())
        .file();
}
