//! How reports look. To accept a change: `cargo insta test --accept -p whyslow-report`.

use crate::common::{diagnosis_text, diff_text, full_disk, nothing_found, slow_service, style, table_text};
use crate::diffs::tz_fixed;
use crate::tables::summary;
use insta::assert_snapshot;
use whyslow_report::{HTML, JSON, MARKDOWN, Style, TERMINAL};

#[test]
fn terminal_100() {
    assert_snapshot!(diagnosis_text(&TERMINAL, &slow_service(), &style(100)), @r#"
    HMGET to Redis 10.3.0.7:6379 took 1.78 s, and the client had gone (1 more cause).
    2 causes more. Host CPU is saturated: 0.1 % idle.
    capture redis-epipe.st, redis-epipe.lsof · java (pid 21120) · 214 threads · 1.96 s from …

    critical    HMGET to Redis 10.3.0.7:6379 took 1.78 s, and the client had gone
                ██████████████████░░ slow-peer · 90.7 % of wall time of thread 21124 · saves up to
                                     907 ms per second (1.78 s in a window of 1.96 s)
      cause     The thread sends HMGET and sleeps in poll until Redis answers. By then the client has
                closed its connection, so the answer ends in EPIPE.
      chain     21120/21190 worker waits 1.70 s for futex 0x7f004c01e354, woken by 21124
                [redis-epipe.st:3]
                  └ 21120/21124 http-nio-8080-exec-7 waits 1.78 s for Redis 10.3.0.7:6379 (HMGET)
                    [redis-epipe.st:2,4]
      evidence  redis-epipe.st:1  21124 10:34:34.289915 sendto(669, "*4\r\n$5\r\…ULL, 0) = 89 <0.000051>
      fix       1. find what holds Redis: `redis-cli -h 10.3.0.7 slowlog get 10`; a slow command blocks
                   all others
      verify    strace -f -ttT -e trace=network -p 21120

    warning     /srv/app/lib/springfox-swagger-ui-2.9.2.jar is read 264 times over
                ████░░░░░░░░░░░░░░░░ archive-reread · 22.0 % of calls · likely (right in 65 % of known
                                     cases): check before you change anything
      cause     The same 512 bytes are read from /srv/app/lib/springfox-swagger-ui-2.9.2.jar again and
                again.
      evidence  redis-epipe.st:77  read(5, "PK\3\4\n\0\0\10\0\0", 512) = 512 <0.000020>
      fix       1. take the jar out of the class path, or unpack it:
                       unzip -d /srv/app/classes /srv/app/lib/springfox-swagger-ui-2.9.2.jar

    Where the time went
      1.96 s of 3 requests of 21120 java; the findings explain 90.7 %
       90.8 %  4 x worker of java (21120): waits for 10.3.0.7:6379 in recvfrom (2 times, 890 ms each) …
        6.2 %  4 x worker of java (21120): computes (121 ms)
        2.5 %  4 x worker of java (21120): waits for /var/log/app.log in fsync (2 times, 25.0 ms each, …
        0.5 %  in 1 smaller part (--verbose)

    Capture: the capture begins in the middle of 3 connections
    Capture: redis-epipe.st: 3 of 1,204 lines damaged, not used; 1 call start not seen
    Capture: 1 remark more (--verbose)
    Not judged: 3 rules, for lack of data (--verbose lists them)
    Then: Largest remaining cost among working calls: read, 48.0 ms in 2,112 calls (61.0 % of their …
    Next: lsof -nP -p PID > trace.lsof   (judges 2 rules more)
    "#);
}

#[test]
fn terminal_50() {
    assert_snapshot!(diagnosis_text(&TERMINAL, &slow_service(), &style(50)), @r#"
    HMGET to Redis 10.3.0.7:6379 took 1.78 s, and the
    client had gone (1 more cause).
    2 causes more. Host CPU is saturated: 0.1 % idle.
    capture redis-epipe.st, redis-epipe.lsof · java …

    critical
      HMGET to Redis 10.3.0.7:6379 took 1.78 s, and
      the client had gone
        ██████████████████░░
        slow-peer · 90.7 % of wall time of thread
        21124 · saves up to 907 ms per second (1.78 s
        in a window of 1.96 s)
      cause
        The thread sends HMGET and sleeps in poll
        until Redis answers. By then the client has
        closed its connection, so the answer ends in …
      chain
        21120/21190 worker waits 1.70 s for futex
        0x7f004c01e354, woken by 21124
        [redis-epipe.st:3]
          └ 21120/21124 http-nio-8080-exec-7 waits
            1.78 s for Redis 10.3.0.7:6379 (HMGET)
            [redis-epipe.st:2,4]
      evidence
        redis-epipe.st:1
          21124 10:34:34.289915 sendto(… 89 <0.000051>
      fix
        1. find what holds Redis:
           `redis-cli -h 10.3.0.7 slowlog get 10`; a …
        2. give this traffic a Redis of its own, and
           lower `hz`
      verify
        strace -f -ttT -e trace=network -p 21120

    warning
      /srv/app/lib/springfox-swagger-ui-2.9.2.jar is
      read 264 times over
        ████░░░░░░░░░░░░░░░░
        archive-reread · 22.0 % of calls · likely
        (right in 65 % of known cases): check before
        you change anything
      cause
        The same 512 bytes are read from
        /srv/app/lib/springfox-swagger-ui-2.9.2.jar
        again and again.
      evidence
        redis-epipe.st:77
          read(5, "PK\3\4\n\0\0\10\0\0"…512 <0.000020>
      fix
        1. take the jar out of the class path, or
           unpack it: …

    Where the time went
      1.96 s of 3 requests of 21120 java; the
        findings explain 90.7 %
       90.8 %  4 x worker of java (21120): waits for
               10.3.0.7:6379 in recvfrom (2 times,
               890 ms each) [slow-peer]
        6.2 %  4 x worker of java (21120): computes
               (121 ms)
        2.5 %  4 x worker of java (21120): waits for
               /var/log/app.log in fsync (2 times,
               25.0 ms each, not ended yet)
        0.5 %  in 1 smaller part (--verbose)

    Capture: the capture begins in the middle of 3
             connections
    Capture: redis-epipe.st: 3 of 1,204 lines damaged,
             not used; 1 call start not seen
    Capture: redis-epipe.st:17: expected `NAME(`,
             found `21124 10:34:3`: cut
    Not judged: 3 rules, for lack of data (--verbose
                lists them)
    Then: Largest remaining cost among working calls:
          read, 48.0 ms in 2,112 calls (61.0 % of
          their time).
    Next: lsof -nP -p PID > trace.lsof   (judges 2 rules more)
    "#);
}

#[test]
fn terminal_nothing_found() {
    assert_snapshot!(diagnosis_text(&TERMINAL, &nothing_found(), &style(100)), @r#"
    No cause of slowness among the system calls: 812 calls looked at.
    capture standard input · one process · window unknown · 812 events

    No findings. Looked at 812 events, 1 thread, a window of unknown length; every rule could judge.

    Where the time went
      Unknown: the capture shows no durations.
    "#);
}

#[test]
fn terminal_explained() {
    let style = Style { explain: true, ..style(80) };
    let text = diagnosis_text(&TERMINAL, &slow_service(), &style);
    let (_, from_notice) = text.split_once("notice").unwrap();
    assert_snapshot!(from_notice, @"
          pid 21120 runs as root
                runs-as-root
      cause     The process runs as root.
      fix       1. systemd: User=app in the unit

    Where the time went
      1.96 s of 3 requests of 21120 java; the findings explain 90.7 %
       90.8 %  4 x worker of java (21120): waits for 10.3.0.7:6379 in recvfrom (2
               times, 890 ms each) [slow-peer]
        6.2 %  4 x worker of java (21120): computes (121 ms)
        2.5 %  4 x worker of java (21120): waits for /var/log/app.log in fsync (2
               times, 25.0 ms each, not ended yet)
        0.5 %  4 x worker of java (21120): waits for a CPU (10.0 ms)

    By thread
      thread 21124 http-nio-8080-exec-7 (pid 21120), 1.96 s
        ██████████████████▒▒ network wait 90.7 % · working 0.1 % · between calls
                             9.2 %
      thread 21190 (pid 21120), 1.20 s
        █████████████▓▓····· lock wait 66.7 % · timer wait 8.3 % · unknown 25.0 %

    About this capture

    capture     the capture begins in the middle of 3 connections
                mid-connection
      cause     Calls without a start were seen.
      fix       1. start strace before the load, or attach longer

    Remarks
      redis-epipe.st: 3 of 1,204 lines damaged, not used; 1 call start not seen
      redis-epipe.st:17: expected `NAME(`, found `21124 10:34:3`: cut

    Not judged
      for lack of what descriptors lead to: close-wait-leak, fd-exhaustion
      for lack of single calls of every thread: sleep-polling
      to judge 2 rules (or strace with -yy):
        lsof -nP -p PID > trace.lsof
      to judge 1 rule:
        strace -f -ttT -y -s 256 -o trace.st -p PID
    Then: Largest remaining cost among working calls: read, 48.0 ms in 2,112 calls
          (61.0 % of their time).
    Next: lsof -nP -p PID > trace.lsof   (judges 2 rules more)
    ");
}

#[test]
fn terminal_colors() {
    let style = Style { color: true, ..style(100) };
    let text = diagnosis_text(&TERMINAL, &slow_service(), &style);
    let start: Vec<&str> = text.lines().take(6).collect();
    assert_snapshot!(start.join("\n").replace('\u{1b}', "ESC"), @"
    ESC[1mHMGET to Redis 10.3.0.7:6379 took 1.78 s, and the client had gone (1 more cause).ESC[0m
    2 causes more. Host CPU is saturated: 0.1 % idle.
    ESC[2mcapture redis-epipe.st, redis-epipe.lsof · java (pid 21120) · 214 threads · 1.96 s from …ESC[0m

    ESC[1mESC[31mcriticalESC[0m    ESC[1mHMGET to Redis 10.3.0.7:6379 took 1.78 s, and the client had goneESC[0m
                ESC[31m██████████████████ESC[0m░░ slow-peer · 90.7 % of wall time of thread 21124 · saves up to
    ");
}

#[test]
fn terminal_table_100() {
    assert_snapshot!(table_text(&TERMINAL, &summary(), &style(100)), @r#"
    Which calls take the time?

    syscall    calls    total    share    bytes      rate  most with
    stat     200,135   1.78 s   89.1 %        -  40,027/s  /etc/localtime
    write        523  12.5 ms    0.6 %  78.4 MB   104.6/s  /var/log/ap…nd/worker-7/2026-11-21/output.log
    poll           3        -        -    512 B         -  -
    all      200,661   1.79 s  100.0 %  78.4 MB         -  -

    poll: waiting, not cost.
    "#);
}

#[test]
fn terminal_table_50() {
    assert_snapshot!(table_text(&TERMINAL, &summary(), &style(50)), @r#"
    Which calls take the time?

    syscall    calls    total    share  most with
    stat     200,135   1.78 s   89.1 %  /etc/localtime
    write        523  12.5 ms    0.6 %  /va…output.log
    poll           3        -        -  -
    all      200,661   1.79 s  100.0 %  -

    Not shown in 50 columns: rate, bytes.
    poll: waiting, not cost.
    "#);
}

#[test]
fn terminal_diff_100() {
    assert_snapshot!(diff_text(&TERMINAL, &tz_fixed(), &style(100)), @"
    The stat storm is gone; 5.0x the files written, in an unknown time.
    before: unknown length · after: unknown length

    Gone
      - /etc/localtime is checked 200,135 times
        critical 89.1 % -> none · 200,135 stat calls -> 0 · tz-stat-storm

    Cannot be judged after
      - writes of 80 bytes
        warning 89.1 % -> not judged · small-writes

    Measured
      figure                before  after  after/before  within noise  change
      write calls              523  2,599         4.97x            no  5.0x
      stat calls per write   382.7      0             -            no  gone
      system time           1.52 s      -             -             -  unknown after

    Not claimed
      - a rate: the length of neither window is known (strace -c without -w)
    ");
}

#[test]
fn terminal_diff_50() {
    assert_snapshot!(diff_text(&TERMINAL, &tz_fixed(), &style(50)), @r#"
    The stat storm is gone; 5.0x the files written, in
    an unknown time.
    before: unknown length · after: unknown length

    Gone
      - /etc/localtime is checked 200,135 times
        critical 89.1 % -> none · 200,135 stat calls
        -> 0 · tz-stat-storm

    Cannot be judged after
      - writes of 80 bytes
        warning 89.1 % -> not judged · small-writes

    Measured
      figure              before  after  change
      write calls            523  2,599  5.0x
      stat … per write     382.7      0  gone
      system time         1.52 s      -  unknown after

    Not claimed
      - a rate: the length of neither window is known
        (strace -c without -w)
    "#);
}

#[test]
fn markdown() {
    assert_snapshot!(diagnosis_text(&MARKDOWN, &slow_service(), &style(100)), @r#"
    **HMGET to Redis 10.3.0.7:6379 took 1.78 s, and the client had gone (1 more cause).**

    2 causes more. Host CPU is saturated: 0.1 % idle.

    capture redis-epipe.st, redis-epipe.lsof · java (pid 21120) · 214 threads · 1.96 s from 10:34:34.289915 · 1,200 events · 4 lost

    ### critical: HMGET to Redis 10.3.0.7:6379 took 1.78 s, and the client had gone

    90.7 % of wall time of thread 21124 · saves up to 907 ms per second (1.78 s in a window of 1.96 s) · `slow-peer`

    The thread sends HMGET and sleeps in poll until Redis answers. By then the client has closed its connection, so the answer ends in EPIPE.

    Chain:

    1. 21120/21190 worker waits 1.70 s for futex 0x7f004c01e354, woken by 21124 (redis-epipe.st:3)
    2. 21120/21124 http-nio-8080-exec-7 waits 1.78 s for Redis 10.3.0.7:6379 (HMGET) (redis-epipe.st:2,4)

    Evidence:

    ```text
    redis-epipe.st:1  21124 10:34:34.289915 sendto(669, "*4\r\n$5\r\nHMGET\r\n$27\r\nrelation:series:1234:check\r\n", 89, 0, NULL, 0) = 89 <0.000051>
    redis-epipe.st:2,4  21124 10:34:34.290015 poll([{fd=669, events=POLLIN|POLLERR}], 1, 2000 <unfinished ...>
    redis-epipe.st:9  21124 write(42, "GET / HTTP/1.1\r\nCookie: [redacted]\r\n\r\n", 36) = -1 EPIPE
    ```

    Fix:

    1. find what holds Redis: `redis-cli -h 10.3.0.7 slowlog get 10`; a slow command blocks all others
    2. give this traffic a Redis of its own, and lower `hz`

    Verify:

    ```sh
    strace -f -ttT -e trace=network -p 21120
    ```

    HMGET answers in under 10 ms

    ### warning: /srv/app/lib/springfox-swagger-ui-2.9.2.jar is read 264 times over

    22.0 % of calls · `archive-reread`

    The same 512 bytes are read from /srv/app/lib/springfox-swagger-ui-2.9.2.jar again and again.

    Evidence:

    ```text
    redis-epipe.st:77  read(5, "PK\3\4\n\0\0\10\0\0", 512) = 512 <0.000020>
    ```

    Fix:

    1. take the jar out of the class path, or unpack it:

       ```
       unzip -d /srv/app/classes /srv/app/lib/springfox-swagger-ui-2.9.2.jar
       ```

    Certainty: likely (right in 65 % of known cases): check before you change anything

    ### Where the time went

    1.96 s of 3 requests of 21120 java; the findings explain 90.7 %

    - 90.8 % 4 x worker of java (21120): waits for 10.3.0.7:6379 in recvfrom (2 times, 890 ms each) \[slow-peer\]
    - 6.2 % 4 x worker of java (21120): computes (121 ms)
    - 2.5 % 4 x worker of java (21120): waits for /var/log/app.log in fsync (2 times, 25.0 ms each, not ended yet)
    - 0.5 % in 1 smaller part

    ### About this capture

    - the capture begins in the middle of 3 connections: start strace before the load, or attach longer `mid-connection`
    - redis-epipe.st: 3 of 1,204 lines damaged, not used; 1 call start not seen
    - redis-epipe.st:17: expected \`NAME(\`, found \`21124 10:34:3\`: cut

    Not judged: 3 rules, for lack of data (--verbose lists them).

    ```sh
    lsof -nP -p PID > trace.lsof
    ```

    or strace with -yy

    ### Next

    Largest remaining cost among working calls: read, 48.0 ms in 2,112 calls (61.0 % of their time).
    "#);
}

#[test]
fn markdown_table_and_diff() {
    let both = table_text(&MARKDOWN, &summary(), &style(100))
        + "\n"
        + &diff_text(&MARKDOWN, &tz_fixed(), &style(100));
    assert_snapshot!(both, @r"
    **Which calls take the time?**

    | syscall | calls | total | share | bytes | rate | most with |
    | --- | ---: | ---: | ---: | ---: | ---: | --- |
    | stat | 200,135 | 1.78 s | 89.1 % | - | 40,027/s | /etc/localtime |
    | write | 523 | 12.5 ms | 0.6 % | 78.4 MB | 104.6/s | /var/log/app/backend/worker-7/2026-11-21/output.log |
    | poll | 3 | - | - | 512 B | - | - |
    | **all** | **200,661** | **1.79 s** | **100.0 %** | **78.4 MB** | **-** | **-** |

    poll: waiting, not cost.

    **The stat storm is gone; 5.0x the files written, in an unknown time.**

    before: unknown length · after: unknown length

    ### Gone

    - /etc/localtime is checked 200,135 times\
      critical 89.1 % -> none · 200,135 stat calls -> 0 · tz-stat-storm

    ### Cannot be judged after

    - writes of 80 bytes\
      warning 89.1 % -> not judged · small-writes

    ### Measured

    | figure | before | after | after/before | within noise | change |
    | --- | ---: | ---: | ---: | ---: | --- |
    | write calls | 523 | 2,599 | 4.97x | no | 5.0x |
    | stat calls per write | 382.7 | 0 | - | no | gone |
    | system time | 1.52 s | - | - | - | unknown after |

    ### Not claimed

    - a rate: the length of neither window is known (strace -c without -w)
    ");
}

#[test]
fn json_table() {
    assert_snapshot!(table_text(&JSON, &summary(), &style(100)), @r#"
    {
      "view": "summary",
      "question": "Which calls take the time?",
      "rows": [
        {
          "syscall": "stat",
          "calls": 200135,
          "total_ns": 1779099000,
          "share": 0.8907,
          "bytes": null,
          "per_s": 40027.0,
          "path": "/etc/localtime"
        },
        {
          "syscall": "write",
          "calls": 523,
          "total_ns": 12500000,
          "share": 0.0063,
          "bytes": 78445591,
          "per_s": 104.6,
          "path": "/var/log/app/backend/worker-7/2026-11-21/output.log"
        },
        {
          "syscall": "poll",
          "calls": 3,
          "total_ns": null,
          "share": null,
          "bytes": 512,
          "per_s": null,
          "path": null
        }
      ],
      "total": {
        "syscall": "all",
        "calls": 200661,
        "total_ns": 1791599000,
        "share": 1.0,
        "bytes": 78446103,
        "per_s": null,
        "path": null
      },
      "notes": [
        "poll: waiting, not cost."
      ]
    }
    "#);
}

#[test]
fn html_cause() {
    let page = diagnosis_text(&HTML, &slow_service(), &style(100));
    let (_, from_article) = page.split_once("<article class=\"warning\">").unwrap();
    let (article, _) = from_article.split_once("</article>").unwrap();
    assert_snapshot!(article, @r#"

    <h3><span class="word">warning</span> /srv/app/lib/springfox-swagger-ui-2.9.2.jar is read 264 times over</h3>
    <svg class="bar" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true"><rect class="p0" x="0" width="220" height="10"/></svg>
    <p class="dim">22.0 % of calls · archive-reread</p>
    <div class="text">The same 512 bytes are read from /srv/app/lib/springfox-swagger-ui-2.9.2.jar again and again.</div>
    <h4>Evidence</h4>
    <pre><span class="dim">redis-epipe.st:77</span>  read(5, &quot;PK\3\4\n\0\0\10\0\0&quot;, 512) = 512 &lt;0.000020&gt;
    </pre>
    <h4>Fix</h4>
    <ol>
    <li>take the jar out of the class path, or unpack it:<pre>unzip -d /srv/app/classes /srv/app/lib/springfox-swagger-ui-2.9.2.jar</pre></li>
    </ol>
    <h4>Certainty</h4>
    <div class="text">likely (right in 65 % of known cases): check before you change anything</div>
    "#);
}

/// The walk over the host in each format. The snapshots are files: `tests/snapshots/`.
#[test]
fn the_walk_in_each_format() {
    let walked = full_disk();
    assert_snapshot!("walk_terminal_80", diagnosis_text(&TERMINAL, &walked, &style(80)));
    assert_snapshot!("walk_terminal_120", diagnosis_text(&TERMINAL, &walked, &style(120)));
    assert_snapshot!("walk_markdown", diagnosis_text(&MARKDOWN, &walked, &style(100)));
    let json: serde_json::Value =
        serde_json::from_str(&diagnosis_text(&JSON, &walked, &style(100))).expect("it is JSON");
    assert_snapshot!("walk_json", serde_json::to_string_pretty(&json["walk"]).expect("it was JSON"));
    let page = diagnosis_text(&HTML, &walked, &style(100));
    let from = page.find("<h2>The host").expect("the walk has its heading");
    let to = page[from + 1..].find("<h2>").map_or(page.len(), |to| from + 1 + to);
    assert_snapshot!("walk_html", &page[from..to]);
}
