//! What services do in a second, as recordings of small real ones have it: a C++ service that waits for a peer, a PHP one that reads files,
//! a database, a Python one behind gunicorn, a Ruby one. The rows and their sizes are those of recordings; the names are others.

/// A row of the account.
pub(crate) struct SeedRow {
    pub(crate) state: &'static str,
    pub(crate) call: Option<&'static str>,
    pub(crate) object: Option<&'static str>,
    pub(crate) line: Option<&'static str>,
    /// Thread time a second.
    pub(crate) ns: f64,
    pub(crate) threads: u32,
    /// It grows with the requests.
    pub(crate) by_load: bool,
}

/// A service.
pub(crate) struct Seed {
    pub(crate) service: &'static str,
    pub(crate) process: &'static str,
    pub(crate) rows: &'static [SeedRow],
    pub(crate) protocol: &'static str,
    pub(crate) endpoints: &'static [(&'static str, f64)],
    /// The median duration of a request.
    pub(crate) duration_ns: f64,
}

const fn row(
    state: &'static str,
    call: &'static str,
    object: &'static str,
    line: &'static str,
    ns: f64,
    threads: u32,
    by_load: bool,
) -> SeedRow {
    const fn some(text: &'static str) -> Option<&'static str> {
        if text.is_empty() { None } else { Some(text) }
    }
    SeedRow { state, call: some(call), object: some(object), line: some(line), ns, threads, by_load }
}

pub(crate) static SEEDS: &[Seed] = &[
    Seed {
        service: "storefront",
        process: "pricing",
        protocol: "http",
        endpoints: &[("GET /price/{id}", 41.0), ("POST /basket", 6.0)],
        duration_ns: 4.2e6,
        rows: &[
            row("peer", "epoll_wait", "ledger (10.0.0.7:5432)", "pricing.cpp:39", 325_086_666.0, 4, true),
            row("user", "", "", "pricing.cpp:77", 78_471_581.0, 4, true),
            row("timer", "epoll_wait", "", "pricing.cpp:39", 70_099_450.0, 1, false),
            row("run-queue", "", "", "", 32_630_363.0, 4, true),
            row("peer", "read", "ledger (10.0.0.7:5432)", "", 146_133.0, 4, true),
            row("kernel", "epoll_ctl", "", "", 94_349.0, 4, true),
            row("kernel", "write", "ledger (10.0.0.7:5432)", "", 2_340_749.0, 4, true),
            row("kernel", "recvfrom", "0.0.0.0:8080", "", 1_840_749.0, 4, true),
            row("client", "sendto", "0.0.0.0:8080", "", 432_630.0, 4, true),
            row("kernel", "munmap", "", "", 3_732.0, 1, false),
            row("lock", "futex", "pool", "pool.cpp:112", 812_000.0, 4, true),
        ],
    },
    Seed {
        service: "checkout",
        process: "checkout.php",
        protocol: "http",
        endpoints: &[("POST /order", 12.0), ("GET /order/{id}", 23.0)],
        duration_ns: 9.5e6,
        rows: &[
            row("kernel", "read", "/srv/checkout/rates.tab", "checkout.php:46", 40_122_567.0, 8, true),
            row("user", "", "", "checkout.php:46", 161_944_688.0, 8, true),
            row("kernel", "read", "", "checkout.php:46", 21_921_959.0, 8, true),
            row("run-queue", "", "", "", 27_721_914.0, 8, true),
            row("kernel-wait", "read", "", "", 11_832_218.0, 8, true),
            row("kernel", "openat", "/srv/checkout/rates.tab", "checkout.php:46", 3_932_591.0, 8, true),
            row("kernel", "close", "/srv/checkout/rates.tab", "", 1_173_946.0, 8, true),
            row("kernel", "newfstatat", "/srv/checkout/rates.tab", "", 1_232_264.0, 8, true),
            row("peer", "recvfrom", "ledger (10.0.0.7:5432)", "checkout.php:88", 205_844_573.0, 8, true),
            row("peer", "recvfrom", "mailer (10.0.0.9:8025)", "checkout.php:97", 35_844_573.0, 8, true),
            row("client", "sendto", "0.0.0.0:9000", "", 732_630.0, 8, true),
            row("kernel", "lseek", "/srv/checkout/rates.tab", "", 381_285.0, 8, true),
            row("unknown", "", "", "", 149_600.0, 1, false),
        ],
    },
    Seed {
        service: "ledger",
        process: "postgres",
        protocol: "postgres",
        endpoints: &[("SELECT orders", 88.0), ("INSERT orders", 14.0), ("COMMIT", 14.0)],
        duration_ns: 1.3e6,
        rows: &[
            row("file", "fdatasync", "/var/lib/postgresql/pg_wal/{n}", "XLogFlush", 36_040_084.0, 12, true),
            row("run-queue", "", "", "", 12_267_126.0, 12, true),
            row("kernel", "fdatasync", "/var/lib/postgresql/pg_wal/{n}", "", 6_962_792.0, 12, true),
            row("user", "", "", "", 131_053_585.0, 12, true),
            row("stolen", "", "", "", 2_735_035.0, 12, false),
            row("page-fault", "", "", "", 1_069_499.0, 12, true),
            row("kernel", "pwrite64", "/var/lib/postgresql/pg_wal/{n}", "", 8_968_926.0, 12, true),
            row("kernel", "pread64", "/var/lib/postgresql/base/{n}", "", 5_968_926.0, 12, true),
            row("file", "pread64", "/var/lib/postgresql/base/{n}", "mdread", 17_968_926.0, 12, true),
            row("kernel", "sendto", "", "", 8_476_767.0, 12, true),
            row("lock", "futex", "LWLock", "LWLockAcquire", 4_476_767.0, 12, true),
            row("timer", "epoll_wait", "", "WaitEventSetWait", 1_305_821.0, 2, false),
        ],
    },
    Seed {
        service: "mailer",
        process: "gunicorn",
        protocol: "http",
        endpoints: &[("POST /send", 5.0)],
        duration_ns: 31.0e6,
        rows: &[
            row("peer", "recvfrom", "smtp (10.0.3.2:25)", "mailer.py:8", 105_844_573.0, 2, true),
            row("run-queue", "", "", "", 4_093_218.0, 2, true),
            row("user", "", "", "mailer.py:31", 22_731_352.0, 2, true),
            row("client", "sendto", "0.0.0.0:8025", "", 232_630.0, 2, true),
            row("kernel", "close", "0.0.0.0:8025", "", 131_055.0, 2, true),
            row("peer", "sendto", "smtp (10.0.3.2:25)", "", 110_577.0, 2, true),
            row("kernel", "fchmod", "/tmp/wgunicorn-{n}", "", 40_813.0, 1, false),
            row("client", "recvfrom", "0.0.0.0:8025", "", 20_978.0, 2, true),
            row("kernel", "ioctl", "0.0.0.0:8025", "", 7_000.0, 2, true),
            row("child", "wait4", "gunicorn", "arbiter.py:201", 1_000_000.0, 1, false),
        ],
    },
];

/// Figures of the host: resource, metric, unit, a usual value.
pub(crate) static FIGURES: &[(&str, &str, &str, f64)] = &[
    ("cpu", "user", "share", 0.31),
    ("cpu", "system", "share", 0.07),
    ("cpu", "iowait", "share", 0.02),
    ("cpu", "steal", "share", 0.004),
    ("cpu", "run-queue", "tasks", 1.7),
    ("memory", "available", "bytes", 9.1e9),
    ("memory", "dirty", "bytes", 2.2e6),
    ("pressure", "cpu-some", "share", 0.021),
    ("pressure", "io-some", "share", 0.013),
    ("pressure", "memory-some", "share", 0.0004),
    ("disk:vda", "utilization", "share", 0.08),
    ("disk:vda", "await", "ns", 1.9e6),
    ("disk:vda", "written", "bytes/s", 3.4e6),
    ("net:eth0", "received", "bytes/s", 2.6e6),
    ("net:eth0", "sent", "bytes/s", 5.7e6),
    ("net:eth0", "retransmitted", "segments/s", 0.4),
];
