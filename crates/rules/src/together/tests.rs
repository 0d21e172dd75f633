use super::*;
use proptest::prelude::*;

/// A warning about process 1, of that part of all time.
fn finding(id: &'static str, share: f64) -> Finding {
    Finding {
        id,
        title: String::new(),
        severity: Share::of_time(share, "wall time").severity(),
        disagreement: false,
        confidence: None,
        sure_at_most: 1.0,
        share: Some(share),
        share_of: ShareOf::WallTime,
        share_whole: ShareWhole::Time,
        measurements: Vec::new(),
        follows_from: None,
        saving: Saving { ns_per_s: Some((share * 1e9).round() as u64), ..Saving::default() },
        subject: Subject { pid: Some(1), ..Subject::default() },
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

fn about(peer: &str, share: f64, fix: &str) -> Finding {
    let mut finding = finding("delayed-ack", share);
    finding.title = format!("{peer}: messages wait");
    finding.subject.peer = Some(peer.to_string());
    finding.fix = vec![fix.to_string()];
    finding
}

fn joined(findings: Vec<Finding>, to_be_told: Option<f64>) -> Vec<Finding> {
    let facts = Facts::default();
    let mut together = Together::new(&facts, true, true);
    findings.into_iter().for_each(|finding| together.add(finding, Least { to_be_told, to_warn: 0.0 }));
    together.finish()
}

#[test]
fn one_cause_at_three_peers_is_one_finding_with_their_list() {
    let all = [("a:1", 0.1), ("b:1", 0.3), ("c:1", 0.2)];
    let all = joined(all.map(|(peer, share)| about(peer, share, "one write")).to_vec(), None);
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].title, "b:1: messages wait; 2 more peers likewise, 60.0 % together");
    assert!((all[0].share.unwrap() - 0.6).abs() < 1e-9);
    assert_eq!(all[0].severity, Severity::Critical, "their sum weighs");
    let peers: Vec<_> = all[0].subjects().filter_map(|subject| subject.peer.as_deref()).collect();
    assert_eq!(peers, ["b:1", "c:1", "a:1"]);
}

#[test]
fn one_program_that_spins_on_three_descriptors_is_one_finding() {
    let spin = |fd: i32| {
        let mut finding = finding("epoll-hup-spin", 0.3);
        finding.title = format!("epoll_wait returns fd {fd}");
        (finding.subject.pid, finding.subject.fd) = (Some(812), Some(fd));
        finding.fix = vec![format!("what fd {fd} is: lsof -nP -p 812 -a -d {fd}")];
        finding
    };
    let all = joined(vec![spin(8), spin(9), spin(812)], None);
    assert_eq!(all.len(), 1);
    assert!(
        all[0].title.starts_with("epoll_wait returns fd 8; 2 more descriptors likewise"),
        "{}",
        all[0].title
    );
    // What is no number of the subject's own may be the difference.
    let mut other = spin(8);
    other.subject.fd = Some(7);
    assert_eq!(joined(vec![spin(9), other], None).len(), 2);
    let subject = spin(8).subject;
    assert_eq!(unnumbered("fd 8: x8, 88, 8, 8k, 812", &subject), "fd _: x8, 88, _, 8k, _");
}

#[test]
fn no_time_is_counted_twice_and_no_ceiling_is_passed() {
    let mut both = vec![about("a:1", 0.8, "one write"), about("b:1", 0.7, "one write")];
    both.iter_mut().for_each(|finding| finding.at_most = Severity::Warning);
    both.iter_mut().for_each(|finding| finding.severity = Severity::Warning);
    let all = joined(both, None);
    assert_eq!((all.len(), all[0].share, all[0].severity), (1, Some(1.0), Severity::Warning));
}

#[test]
fn another_remedy_another_program_and_another_question_stay_apart() {
    let mut other_program = about("b:1", 0.3, "one write");
    other_program.subject.pid = Some(2);
    let mut other_question = about("c:1", 0.3, "one write");
    other_question.subject.endpoint = Some("GET /x".to_string());
    let all = [about("a:1", 0.3, "one write"), about("b:1", 0.3, "look at b"), other_program, other_question];
    // The least of four causes is left out.
    let all = joined(all.to_vec(), None);
    assert_eq!(all.len(), MAX_CAUSES);
    assert!(
        all[2].cause.ends_with(" 1 more finding of this kind costs less and is left out."),
        "{}",
        all[2].cause
    );
    // The same place twice is not two places.
    assert_eq!(joined(vec![about("a:1", 0.3, "x"), about("a:1", 0.2, "x")], None).len(), 2);
}

#[test]
fn what_places_cost_together_decides_and_not_what_one_costs() {
    let places =
        |count: u32| (0..count).map(|at| about(&format!("10.0.0.{at}:80"), 0.001, "ask at once")).collect();
    assert!(joined(places(49), Some(0.05)).is_empty());
    let all = joined(places(50), Some(0.05));
    assert_eq!((all.len(), all[0].severity), (1, Severity::Warning));
    assert_eq!(all[0].title, "10.0.0.0:80: messages wait; 49 more peers likewise, 5.0 % together");
    assert!(joined(vec![about("a:1", 0.01, "x")], Some(0.05)).is_empty());
    assert_eq!(joined(vec![about("a:1", 0.06, "x")], Some(0.05)).len(), 1);
    // A file's own name in the first step is not what differs.
    let file = |at: u32| {
        let mut finding = finding("config-reread", 0.001);
        finding.subject.path = Some(format!("/etc/app/{at}.conf"));
        finding.fix = vec![format!("keep what /etc/app/{at}.conf says")];
        finding
    };
    let all = joined((0..200).map(file).collect(), None);
    assert_eq!((all.len(), all[0].also.len(), all[0].severity), (1, MAX_LISTED, Severity::Warning));
    assert!((all[0].share.unwrap() - 0.2).abs() < 1e-9);
    assert!(all[0].title.ends_with("199 more files likewise, 20.0 % together"), "{}", all[0].title);
}

proptest! {
    #[test]
    fn sums_are_exact_whatever_the_order(
        places in prop::collection::vec((0u32..400, 1u32..1_000), 1..400),
        seed in any::<u64>(),
    ) {
        // A place is there once.
        let places: std::collections::BTreeMap<u32, u32> = places.into_iter().collect();
        let total: u32 = places.values().sum();
        let make = |(at, part): (u32, u32)| {
            let mut finding = about(&format!("h{at}:1"), 0.0, "one write");
            // Parts that have exact sums.
            finding.share = Some(f64::from(part) / f64::from(1 << 20));
            finding.saving.ns_per_s = Some(u64::from(part));
            finding
        };
        let mut order: Vec<(u32, u32)> = places.clone().into_iter().collect();
        let forward = joined(order.iter().copied().map(make).collect(), None);
        order.sort_by_key(|(at, _)| u64::from(*at).wrapping_mul(seed | 1).rotate_left(17));
        let shuffled = joined(order.into_iter().map(make).collect(), None);
        for all in [&forward, &shuffled] {
            prop_assert_eq!(all.len(), 1);
            prop_assert_eq!(all[0].share, Some(f64::from(total) / f64::from(1 << 20)));
            let more = all[0].measurements.iter().find(|figure| figure.name == "more_like_it");
            let count = more.and_then(|figure| figure.value).unwrap_or(0.0) + 1.0;
            prop_assert_eq!(count as usize, places.len());
            prop_assert_eq!(all[0].also.len(), (places.len() - 1).min(MAX_LISTED));
        }
        prop_assert_eq!(&forward[0].severity, &shuffled[0].severity);
        let costliest = |all: &[Finding]| all[0].subjects().next().and_then(|_| all[0].saving.ns_per_s);
        prop_assert_eq!(costliest(&forward), costliest(&shuffled));
    }
}
