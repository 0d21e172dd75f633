// Owns the made-up pages of the tests: a small one, one with hostile names, one with two runs, one with a million calls.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

/** Numbers that look random and are the same each time. */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

export const HOSTILE = ["<script>window.hostile=1</script>", "\"'><img src=x onerror=window.hostile=1>", "\u202egnp.exe\u202c", "</script><b>", "a\u0000b", "${window.hostile=1}{{1}}"];

const STATES = 13;

/** A run with so many calls on so many threads; `names` replaces names of objects. */
export function run({ name = "recording.whyslow", calls = 2000, threads = 8, seed = 1, length = 10e9, hostile = false, slow = 1, kind = "recording" } = {}) {
  const next = random(seed);
  const texts = [];
  const index = new Map();
  const text = (value) => {
    if (!index.has(value)) index.set(value, texts.push(value) - 1);
    return index.get(value);
  };
  const objects = hostile ? HOSTILE : ["10.0.0.7:5432", "/var/log/app.log", "lock orders", "/etc/app.conf", "pipe 4", "/data/items.db"];
  const callNames = ["read", "write", "futex", "recvfrom", "fsync", "epoll_wait"];
  const stateOf = { read: 3, write: 3, futex: 4, recvfrom: 2, fsync: 3, epoll_wait: 8 };
  const page = {
    name, kind, length, started: "2026-11-20T10:00:00Z", texts,
    threads: Array.from({ length: threads }, (_, i) => ({
      pid: 70 + (i % 3 === 2 ? 1 : 0), tid: 70 + i, name: text(hostile ? HOSTILE[i % HOSTILE.length] : `worker-${i}`), process: text(i % 3 === 2 ? "postgres" : hostile ? HOSTILE[0] : "orders"),
      role: i % 3 === 2 ? null : text(i % 2 ? "request worker" : "flusher"), target: i % 3 !== 2, from: 0, to: null,
    })),
    left_out: [hostile ? HOSTILE[0] : "12,044 of 14,044 calls, the shortest ones"],
  };
  const width = 2 ** Math.ceil(Math.log2(length / 500));
  const buckets = Math.ceil(length / width);
  const tiles = new Map();
  const slices = { thread: [], start: [], took: [], state: [], call: [], object: [], error: [], site: [], line: [] };
  const per = length / (calls / threads);
  let before = 0;
  for (let i = 0; i < calls; i++) {
    const thread = i % threads;
    const call = callNames[Math.floor(next() * callNames.length)];
    const start = Math.floor((Math.floor(i / threads) + 0.02 * thread) * per);
    const took = Math.max(100, Math.floor(per * 0.8 * next() ** 2 * slow));
    const state = stateOf[call];
    slices.thread.push(thread);
    slices.start.push(start - before);
    before = start;
    slices.took.push(i % 997 === 996 ? null : took);
    slices.state.push(state);
    slices.call.push(text(call));
    slices.object.push(call === "epoll_wait" ? null : text(objects[Math.floor(next() * objects.length)]));
    slices.error.push(i % 301 === 300 ? text("ENOENT") : null);
    slices.site.push(i % 5 ? null : text(hostile ? HOSTILE[1] : "app.py:12 load"));
    slices.line.push(i % 100 ? null : text(hostile ? HOSTILE[0] : `10:00:0${i % 10} ${call}(3, ..., 4096) = 4096`));
    const key = (thread * buckets + Math.min(buckets - 1, Math.floor(start / width))) * STATES + state;
    tiles.set(key, (tiles.get(key) ?? 0) + took);
    const running = key - state;
    tiles.set(running, (tiles.get(running) ?? 0) + Math.floor(per * 0.15));
  }
  if (kind === "capture") Object.assign(slices, { file: slices.start.map(() => text("orders.st")), row: slices.start.map((_, i) => i + 1) });
  const keys = [...tiles.keys()].sort((a, b) => a - b);
  page.timeline = {
    tiles: {
      buckets, from: 0, width, thread: keys.map((key) => Math.floor(key / STATES / buckets)), bucket: keys.map((key) => Math.floor(key / STATES) % buckets),
      state: keys.map((key) => key % STATES), ns: keys.map((key) => Math.min(width / 2, tiles.get(key))),
    },
    slices,
    wakes: { from: [], to: [], at: [] },
    marks: [{ finding: 0, thread: 0, from: length * 0.3, to: length * 0.32 }, { finding: 0, thread: 1, from: length * 0.5, to: length * 0.51 }],
  };
  let at = 0;
  for (let i = 0; i < Math.min(calls, 5000); i++) {
    const step = Math.floor(length / Math.min(calls, 5000));
    page.timeline.wakes.from.push((i * 3 + 1) % threads);
    page.timeline.wakes.to.push(i % threads);
    page.timeline.wakes.at.push(step);
    at += step;
  }
  const endpoints = hostile ? [HOSTILE[0], HOSTILE[2]] : ["GET /user/{id}", "POST /order"];
  const requests = { endpoint: [], served: [], start: [], took: [], failed: [], thread: [], peer: [], endpoints: [] };
  for (let i = 0; i < 400; i++) {
    requests.endpoint.push(text(endpoints[i % 2]));
    requests.served.push(i % 4 !== 3);
    requests.start.push(Math.floor(length / 410));
    requests.took.push(Math.floor(1e6 * slow * Math.exp(next() * 4)));
    requests.failed.push(i % 50 === 49);
    requests.thread.push(i % 7 ? i % threads : null);
    requests.peer.push(i % 3 ? null : text(objects[0]));
  }
  requests.endpoints = endpoints.map((endpoint) => ({ endpoint: text(endpoint), count: 2000, p50: 4.2e6, p95: 30e6, p99: 49e6, max: 54e6, failed: 4 }));
  requests.endpoints[1].p99 = null;
  page.requests = requests;
  page.waits = Array.from({ length: 14 }, (_, i) => ({
    from: i % threads, to: i % 3 ? (i * 3 + 1) % threads : null, object: i % 3 === 1 ? null : text(objects[i % objects.length]), state: 2 + (i % 5), ns: Math.floor(length / (i + 2)), count: 10 + i, critical: i < 3,
  }));
  const frames = hostile ? HOSTILE : ["main", "serve", "handle", "query", "parse_json", "flush", "fsync_all", "sys_fsync"];
  const stacks = { parent: [], frame: [], place: [], language: [], cpu_samples: [], off_cpu_ns: [], ns_per_sample: 1e7 };
  for (let i = 0; i < 120; i++) {
    stacks.parent.push(i === 0 ? -1 : Math.floor(next() ** 0.5 * i));
    stacks.frame.push(text(frames[Math.floor(next() * frames.length)]));
    stacks.place.push(i % 2 ? text("app.rs:31") : null);
    stacks.language.push(i < 3 ? 1 : Math.floor(next() * 5));
    stacks.cpu_samples.push(Math.floor(next() * 20));
    stacks.off_cpu_ns.push(Math.floor(next() * 1e8 * slow));
  }
  page.stacks = stacks;
  page.tables = [
    { id: "files", title: "Files", left_out: 3, columns: [{ name: "file", kind: "text" }, { name: "calls", kind: "count" }, { name: "time", kind: "ns" }, { name: "read", kind: "bytes" }],
      rows: objects.map((object, i) => [object, 100 * i + 7, i === 2 ? null : 4.2e6 * i, i * 4096]), leads: objects.map((object, i) => (i === 4 ? null : { object: text(object) })) },
    { id: "peers", title: "Peers", left_out: 0, columns: [{ name: "peer", kind: "text" }, { name: "share", kind: "share" }], rows: [["10.0.0.7:5432", 0.812], ["unix", null]] },
    { id: "threads", title: "Threads", left_out: 0, columns: [{ name: "thread", kind: "text" }, { name: "calls", kind: "count" }], rows: page.threads.map((thread) => [String(thread.tid), 10]), leads: page.threads.map((_, thread) => ({ thread })) },
    { id: "requests", title: "Requests", left_out: 0, columns: [{ name: "requests", kind: "count" }, { name: "endpoint", kind: "text" }], rows: [[2000, endpoints[0]]], leads: [{ endpoint: text(endpoints[0]) }] },
  ];
  page.account = [{ alike: 1, call: text("recvfrom"), object: text(objects[0]) }, { alike: 1, call: text("futex"), object: text(objects[2]) }, { alike: 1, state: 0 }, null];
  const ticks = Array.from({ length: 50 }, (_, i) => (i * length) / 50);
  page.host = ["user", "system"].map((each, k) => ({ resource: "CPU", name: hostile ? HOSTILE[k] : each, unit: "share", at: ticks, value: ticks.map((_, i) => (i === 20 ? null : 0.2 + 0.3 * next())) }));
  page.host.push({ resource: "disk sda", name: "writes", unit: "bytes", at: ticks, value: ticks.map(() => 3e6 * next()) });
  const title = hostile ? `${HOSTILE[0]} waits for ${HOSTILE[2]}` : "orders (70): 62 % of its requests' time: waits for db (10.0.0.7:5432)";
  page.diagnosis = {
    verdict: title, findings: [{ id: "slow-peer", title, severity: "critical", share: 0.62 }],
    account: {
      target: hostile ? HOSTILE[0] : "70 orders", of: "requests", ns: 6e9, idle_ns: 2e9, unknown_ns: 1e8,
      rows: [["peer", "recvfrom", objects[0], 3.7e9], ["lock", "futex", objects[2], 1.2e9], ["user", null, null, 0.8e9], ["file", "fsync", objects[1], 0.3e9]].map(([state, call, object, ns]) => ({
        who: hostile ? HOSTILE[1] : "4 x worker of orders (70)", threads: 4, pids: [70], state, call, object, function: null, place: null, ns: ns * slow, share: (ns * slow) / 6e9, count: call ? 812 : null, mean_ns: null, p99_ns: call ? 9e6 : null, longest_ns: call ? 54e6 : null, known: "exact",
      })),
    },
  };
  return page;
}

/** A page's object. */
export const pageOf = (runs, diff = null) => ({ schema: 1, made_by: "whyslow test", runs, diff });

export const DIFF = {
  verdict: "Faster: p50 of GET /user/{id} fell from 8.4 ms to 4.2 ms.", gone: [{ title: "fsync-per-write", change: "812 fsync calls -> 3" }], new: [], kept: [], unknown: [],
  figures: [{ name: "fsync calls", unit: "count", before: 812, after: 3, change: "812 -> 3", beyond_noise: true }, { name: "time in read", unit: "ns", before: null, after: 4.2e6, change: "new", beyond_noise: false }], refusals: ["No rate is claimed."],
};

const escaped = (text) => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** The html as crates/page writes it: report, place, data, bundle, and the policy. */
export function html(page, bundle) {
  const script = readFileSync(`${bundle}/page.js`, "utf8");
  const report = readFileSync(new URL("../../crates/report/src/formats/html/page.css", import.meta.url), "utf8");
  const style = report + readFileSync(`${bundle}/page.css`, "utf8");
  const data = gzipSync(JSON.stringify(page), { level: 6 }).toString("base64");
  const last = page.runs[page.runs.length - 1];
  const policy = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; img-src data:; base-uri 'none'; form-action 'none'`;
  const title = escaped(last.diagnosis.verdict);
  return `<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>whyslow: ${title}</title>\n<style>${style}</style>\n</head>\n<body>\n<main>\n<h1>${title}</h1>
<article class="critical"><h3><span class="word">critical</span> ${escaped(last.diagnosis.findings[0].title)}</h3><p class="dim">62 % of its requests' time (6.0 s) · slow-peer</p><h4>Figures</h4><ul><li>p50: 4.2 ms</li></ul></article>
<h2>Where the time went</h2><p class="dim">x</p><ul>${(last.diagnosis.account?.rows ?? []).map((row) => `<li><b>${row.share} %</b> x</li>`).join("")}</ul>
<div id="whyslow-app"></div>\n</main>\n<script type="application/x-whyslow" id="whyslow-data">${data}</script>\n<script>${script}</script>\n</body>\n</html>\n`;
}
