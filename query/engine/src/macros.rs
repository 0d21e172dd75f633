//! Usual questions that have names: each is a view, to be asked for as a table and filtered further. The order of a view
//! holds where it has a limit, which is why each has one.

use crate::infos::MacroInfo;

/// All of them.
pub(crate) static MACROS: &[MacroInfo] = &[
    info(
        "top_syscalls",
        "Which calls take the most time?",
        "SELECT syscall, count(*) AS calls, count(errno) AS errors, ms(sum(dur)) AS total_ms, us(p50(dur)) AS p50_us, \
         us(p99(dur)) AS p99_us, us(max(dur)) AS max_us FROM calls GROUP BY syscall ORDER BY total_ms DESC LIMIT 100000",
    ),
    info(
        "slowest_calls",
        "Which single calls were the slowest?",
        "SELECT at(ts) AS at, ms(dur) AS ms, comm, tid, syscall, path, args FROM calls \
         WHERE dur >= (SELECT min(dur) FROM (SELECT dur FROM raw.syscalls WHERE dur IS NOT NULL ORDER BY dur DESC LIMIT 20)) \
         ORDER BY dur DESC LIMIT 20",
    ),
    info(
        "failed_calls",
        "Which calls fail, with which error, on what?",
        "SELECT syscall, errno, path, count(*) AS calls FROM calls WHERE errno IS NOT NULL GROUP BY syscall, errno, path ORDER BY calls DESC, syscall, errno, path LIMIT 100000",
    ),
    info(
        "top_threads",
        "Which threads spend the most time in calls?",
        "SELECT pid, tid, min(comm) AS comm, count(*) AS calls, ms(sum(dur)) AS in_calls_ms, \
         ms(sum(dur) FILTER (WHERE is_wait(syscall))) AS waits_ms FROM calls GROUP BY pid, tid ORDER BY in_calls_ms DESC LIMIT 100000",
    ),
    info(
        "top_files",
        "Which files take the most time?",
        "SELECT path, count(*) AS calls, ms(sum(dur)) AS total_ms, sum(bytes) AS bytes FROM calls \
         WHERE path IS NOT NULL AND (class = 'file' OR path LIKE '/%') GROUP BY path ORDER BY total_ms DESC, calls DESC, path LIMIT 100000",
    ),
    info(
        "small_io",
        "Who reads and writes in small pieces?",
        "SELECT comm, syscall, path, count(*) AS calls, avg(bytes) AS mean_bytes, ms(sum(dur)) AS total_ms FROM calls \
         WHERE bytes IS NOT NULL GROUP BY comm, syscall, path HAVING count(*) >= 100 AND avg(bytes) < 4096 ORDER BY calls DESC LIMIT 100000",
    ),
    info(
        "syncs",
        "What is synced to disk, how often, how long?",
        "SELECT comm, syscall, path, count(*) AS calls, ms(sum(dur)) AS total_ms, ms(p99(dur)) AS p99_ms FROM calls \
         WHERE syscall IN ('fsync', 'fdatasync', 'sync', 'syncfs', 'msync', 'sync_file_range') GROUP BY comm, syscall, path ORDER BY total_ms DESC LIMIT 100000",
    ),
    info(
        "calls_per_second",
        "How many calls a second, and how much time in them?",
        "SELECT at(ts / 1000000000 * 1000000000) AS second, count(*) AS calls, ms(sum(dur)) AS in_calls_ms FROM calls \
         WHERE ts IS NOT NULL GROUP BY ts / 1000000000 ORDER BY second LIMIT 100000",
    ),
    info(
        "who_waits",
        "Who waits for whom, and for what?",
        "SELECT comm, state, object, waker_comm, count(*) AS waits, ms(sum(dur)) AS total_ms, ms(max(dur)) AS max_ms FROM waits \
         WHERE NOT for_work GROUP BY comm, state, object, waker_comm ORDER BY total_ms DESC LIMIT 100000",
    ),
    info(
        "states",
        "In which states is the time spent?",
        "SELECT state, ms(sum(time)) AS total_ms, sum(share) AS share FROM account GROUP BY state ORDER BY total_ms DESC LIMIT 100000",
    ),
    info(
        "slowest_requests",
        "Which requests were the slowest?",
        "SELECT number, side, endpoint, detail, peer, status, ms(dur) AS ms, tid FROM requests ORDER BY dur DESC NULLS LAST LIMIT 20",
    ),
    info(
        "hot_stacks",
        "Where does the program run?",
        "SELECT site, place, leaf, count(*) AS samples, ms(sum(weight)) AS ms FROM samples GROUP BY site, place, leaf ORDER BY samples DESC LIMIT 100000",
    ),
    info(
        "blocked_at",
        "Where in its code does the program wait?",
        "SELECT site, place, leaf, count(*) AS waits, ms(sum(weight)) AS ms FROM offcpu GROUP BY site, place, leaf ORDER BY ms DESC LIMIT 100000",
    ),
    info(
        "run_queue",
        "Which threads wait for a CPU?",
        "SELECT pid, tid, name_of(recording, pid, tid) AS comm, ms(sum(on_cpu)) AS on_cpu_ms, ms(sum(runnable)) AS runnable_ms, \
         ms(max(runnable)) AS max_ms FROM sched GROUP BY recording, pid, tid ORDER BY runnable_ms DESC LIMIT 100000",
    ),
    info(
        "host_figures",
        "What are the figures of the host, over all looks?",
        "SELECT kind, name, metric, count(*) AS looks, avg(value) AS mean, max(value) AS max FROM host \
         WHERE value IS NOT NULL AND kind NOT IN ('process', 'thread') GROUP BY kind, name, metric ORDER BY kind, name, metric LIMIT 100000",
    ),
];

const fn info(name: &'static str, about: &'static str, sql: &'static str) -> MacroInfo {
    MacroInfo { name, about, sql }
}
