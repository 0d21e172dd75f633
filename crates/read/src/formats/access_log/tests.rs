//! Lines as servers write them, and damage.

use super::*;
use crate::formats::collect::sniffs;
use proptest::prelude::*;
use whyslow_model::SourceId;

/// What a test looks at.
#[derive(Debug, PartialEq)]
struct Seen {
    line: u64,
    at: Timestamp,
    whole_second: bool,
    dur: Nanos,
    request: String,
    status: Option<u16>,
    client: Option<String>,
    host: Option<String>,
    bytes: (Option<u64>, Option<u64>),
    upstreams: Vec<(Option<String>, Nanos, Option<u16>)>,
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn collect(data: &[u8]) -> (Vec<Seen>, SourceInfo, Vec<CaptureNote>) {
    let info = SourceInfo::new(SourceId(0), "access.log", CaptureKind::AccessLog);
    let mut source = Source::new(info, data.to_vec(), Box::new(std::io::empty()));
    let (mut seen, mut notes) = (Vec::new(), Vec::new());
    let mut sink = |event: Event<'_>| match event {
        Event::Logged(logged) => seen.push(Seen {
            line: logged.line,
            at: logged.at,
            whole_second: logged.whole_second,
            dur: logged.dur,
            request: text(&[logged.method, b" ", logged.target].concat()),
            status: logged.status,
            client: logged.client.map(text),
            host: logged.host.map(text),
            bytes: (logged.request_bytes, logged.answer_bytes),
            upstreams: logged
                .upstreams
                .iter()
                .map(|behind| (behind.address.map(text), behind.dur, behind.status))
                .collect(),
        }),
        Event::Note(note) => notes.push(note),
        other => panic!("not of a log: {other:?}"),
    };
    read(&mut source, &mut sink).expect("reading from memory");
    (seen, source.info, notes)
}

fn one(line: &str) -> Seen {
    assert!(sniffs(&ACCESS_LOG, "access.log", line.as_bytes()), "{line}");
    let (mut seen, info, notes) = collect(line.as_bytes());
    assert_eq!((seen.len(), info.rejects, info.foreign), (1, 0, 0), "{line}: {notes:?}");
    seen.remove(0)
}

fn ms(ms: u64) -> Nanos {
    Nanos::from_millis(ms)
}

const LEAD: &str = r#"10.0.0.9 - - [06/Sep/2015:05:58:05 +0900] "GET /feed?n=1 HTTP/1.1" 200 12"#;

#[test]
fn common_and_combined() {
    let seen = one(LEAD);
    // 2015-09-05 20:58:05 UTC.
    assert_eq!(seen.at, Timestamp::new(1_441_486_685_000_000_000));
    assert!(seen.whole_second);
    assert_eq!((seen.request.as_str(), seen.status), ("GET /feed?n=1", Some(200)));
    assert_eq!((seen.dur, seen.bytes.1), (Nanos::UNKNOWN, Some(12)));
    assert_eq!((seen.client.as_deref(), seen.host), (Some("10.0.0.9"), None));
    assert_eq!(one(&format!(r#"{LEAD} "-" "curl/7 \"x\" [1]""#)).dur, Nanos::UNKNOWN);
    let vhost = one(&format!("www.example.org:80 {LEAD}"));
    assert_eq!(vhost.host.as_deref(), Some("www.example.org:80"));
    assert_eq!(vhost.client.as_deref(), Some("10.0.0.9"));
    // A user's name with a space.
    let user = one(&LEAD.replace("- - ", "- John Doe "));
    assert_eq!((user.client.as_deref(), user.host), (Some("10.0.0.9"), None));
}

#[test]
fn durations_are_taken_where_their_unit_is_sure() {
    let behind = |more: &str| one(&format!(r#"{LEAD} "-" "curl/7" {more}"#));
    assert_eq!(behind(r#""-" 0.057"#).dur, ms(57));
    // $request_time is never the smaller one, wherever it stands.
    for more in ["0.057 0.055", "0.055 0.057"] {
        let seen = behind(more);
        assert_eq!((seen.dur, seen.upstreams.as_slice()), (ms(57), &[(None, ms(55), None)][..]));
    }
    assert_eq!(behind("- 0.321").dur, ms(321));
    assert_eq!(behind("-").dur, Nanos::UNKNOWN);
    assert_eq!(behind("2/2000123").dur, Nanos::new(2_000_123_000));
    assert_eq!(behind("**0/123456**").dur, Nanos::new(123_456_000));
    assert_eq!(behind("2/123456").dur, Nanos::UNKNOWN, "they do not agree");
    assert_eq!(behind("12ms").dur, ms(12));
    let (seen, _, notes) = collect(format!("{LEAD} \"-\" \"-\" 57123\n{LEAD} \"-\" \"-\" 12\n").as_bytes());
    assert!(seen.iter().all(|seen| seen.dur == Nanos::UNKNOWN), "microseconds or milliseconds: nobody knows");
    assert!(notes.iter().any(|note| note.text.starts_with("2 lines end in a whole number")), "{notes:?}");
    let (_, _, notes) = collect(format!("{LEAD} \"-\" \"-\" 0.057\n").as_bytes());
    assert!(notes.iter().any(|note| note.text.contains("$request_time")), "{notes:?}");
    assert!(notes.iter().any(|note| note.text.contains("to the second")), "{notes:?}");
}

#[test]
fn servers_behind() {
    let seen = one(&format!(
        r#"{LEAD} "-" "curl/7" rt=0.457 ua="10.0.0.2:80, 10.0.0.3:80" us="502, 200" ut="0.401, 0.055" ul="0, 12""#
    ));
    assert_eq!(seen.dur, ms(457));
    let expected = [
        (Some("10.0.0.2:80".to_string()), ms(401), Some(502)),
        (Some("10.0.0.3:80".to_string()), ms(55), Some(200)),
    ];
    assert_eq!(seen.upstreams, expected);
    // The ingress controller's.
    let seen = one(&format!(
        r#"{LEAD} "-" "curl/7" 345 0.457 [default-web-80] [] 10.1.0.2:8080, 10.1.0.3:8080 0, 12 0.401, 0.055 504, 200 8f3ebc1e"#
    ));
    assert_eq!((seen.dur, seen.bytes.0), (ms(457), Some(345)));
    assert_eq!(seen.upstreams[1], (Some("10.1.0.3:8080".to_string()), ms(55), Some(200)));
    let seen = one(&format!(r#"{LEAD} "-" "-" 345 0.001 [] [] - - - - 8f3ebc1e"#));
    assert_eq!((seen.dur, seen.upstreams.len()), (ms(1), 0));
}

#[test]
fn fields_by_name() {
    let seen = one(
        r#"{"msec":"1644997905.123","pid":9876,"request_length":345,"remote_addr":"192.168.1.100","time_local":"19/Feb/2023:14:15:60 +0000","request":"GET /index.html HTTP/1.1","request_uri":"/index.html?p=v","status":200,"body_bytes_sent":5432,"bytes_sent":6543,"host":"example.com","request_time":0.123,"upstream":"10.0.0.2:8080","upstream_response_time":0.058,"tags":["a"],"x":{"y":{"z":1}}}"#,
    );
    assert_eq!((seen.at, seen.whole_second), (Timestamp::new(1_644_997_905_123_000_000), false));
    assert_eq!((seen.request.as_str(), seen.dur), ("GET /index.html?p=v", ms(123)));
    assert_eq!(seen.bytes, (Some(345), Some(6543)));
    assert_eq!(seen.host.as_deref(), Some("example.com"));
    assert_eq!(seen.upstreams, [(Some("10.0.0.2:8080".to_string()), ms(58), None)]);
    let seen = one(
        "time:06/Sep/2015:05:58:05 +0900\thost:10.0.0.9\treq:GET /feed HTTP/1.1\tstatus:200\tsize:12\treqtime_microsec:57123",
    );
    assert_eq!((seen.dur, seen.client.as_deref()), (Nanos::new(57_123_000), Some("10.0.0.9")));
    let seen = one("time=2015-09-06T05:58:05+09:00 method=GET uri=/feed?n=1 status=200 request_time=0.057");
    assert_eq!((seen.dur, seen.request.as_str()), (ms(57), "GET /feed?n=1"));
    assert_eq!(seen.at, Timestamp::new(1_441_486_685_000_000_000));
    let alone = one(
        r#"{"request":"GET / HTTP/2.0","status":200,"request_time":0.045,"upstream":"","upstream_response_time":0.0}"#,
    );
    assert_eq!((alone.dur, alone.upstreams.len()), (ms(45), 0));
    let traefik = one(
        r#"{"ClientHost":"10.0.0.9","Duration":1500000,"OriginDuration":1200000,"ServiceAddr":"10.0.0.2:80","RequestMethod":"GET","RequestPath":"/feed","DownstreamStatus":200,"time":"2023-02-19T14:15:05Z"}"#,
    );
    assert_eq!((traefik.dur, traefik.request.as_str()), (Nanos::new(1_500_000), "GET /feed"));
    assert_eq!(traefik.upstreams, [(Some("10.0.0.2:80".to_string()), Nanos::new(1_200_000), None)]);
    let (seen, _, notes) = collect(br#"{"method":"GET","path":"/feed","status":200,"duration":123}"#);
    assert_eq!(seen[0].dur, Nanos::UNKNOWN);
    assert!(notes.iter().any(|note| note.text.contains("`duration` tells no unit")), "{notes:?}");
}

#[test]
fn damage_is_told_from_other_text() {
    let log = format!(
        "$ cat access.log\n{LEAD} \"-\" \"-\" 0.057\n\n{}\n{{\"request\":\"GET / HT\n{}\n",
        LEAD.replace("200 12", "2OO 12"),
        LEAD.replace("GET /feed?n=1 HTTP/1.1", r"\x16\x03\x01")
    );
    let (seen, info, notes) = collect(log.as_bytes());
    assert_eq!((info.events, info.rejects, info.foreign, info.lines), (2, 2, 1, 6));
    assert_eq!((seen[1].request.as_str(), seen[1].status), (" ", Some(200)));
    let reject = notes.iter().find(|note| note.line == Some(4)).unwrap();
    assert!(reject.text.contains("access.log:4: expected a status of three digits"), "{reject:?}");
}

#[test]
fn other_text_is_no_access_log() {
    for other in [
        "{\"traceEvents\":[]}\n",
        "key=value other=thing\n",
        "read(3, \"GET / HTTP/1.1\\r\\n\", 100) = 16\n",
        "2023/02/19 14:15:05 [error] 123#0: *1 upstream timed out, request: \"GET / HTTP/1.1\"\n",
        "a\tb\nc\td\n",
        "",
    ] {
        assert!(!sniffs(&ACCESS_LOG, "x", other.as_bytes()), "{other}");
    }
}

proptest! {
    #[test]
    fn any_damage_is_survived_and_every_line_counted(
        at in 0usize..900,
        bytes in prop::collection::vec(any::<u8>(), 0..60),
        removed in 0usize..60,
    ) {
        let mut data = format!(
            "{LEAD} \"-\" \"c\" rt=0.457 ua=\"10.0.0.2:80, 10.0.0.3:80\" ut=\"0.4, 0.05\"\n{{\"request\":\"GET / HTTP/1.1\",\"status\":200,\"request_time\":0.1}}\n\
             time:06/Sep/2015:05:58:05 +0900\treq:GET / HTTP/1.1\tstatus:200\n{LEAD} \"-\" \"-\" 34 0.1 [a] [] b 0, 12 0.4, 0.0 504, 200 8f\n"
        ).into_bytes();
        let from = at.min(data.len());
        data.splice(from..(from + removed).min(data.len()), bytes);
        let (_, info, _) = collect(&data);
        let lines = data.split(|byte| *byte == b'\n').map(|line| line.trim_ascii());
        let not_blank = lines.filter(|line| !line.is_empty()).count() as u64;
        prop_assert_eq!(info.events + info.rejects + info.foreign, not_blank);
        sniffs(&ACCESS_LOG, "x", &data);
    }

    #[test]
    fn any_bytes_are_survived(data in prop::collection::vec(any::<u8>(), 0..400)) {
        collect(&data);
        sniffs(&ACCESS_LOG, "x", &data);
    }
}
