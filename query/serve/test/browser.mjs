// Opens what the server serves in a real browser: the list, the page of a recording, zooms, SQL, links, hostile names, a recording that goes
// on; and measures with a large one. Tests by name, as query/serve/test/run lists them.
//
// usage: WHYSLOW=… WHYSLOW_QUERY=… CHROMIUM=… node query/serve/test/browser.mjs NAME…   (views hostile live large)
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../../..");
const require = createRequire(join(root, "page/package.json"));
const { default: puppeteer } = await import(require.resolve("puppeteer-core"));
const { WHYSLOW, WHYSLOW_QUERY, CHROMIUM } = process.env;
const folder = mkdtempSync(join(tmpdir(), "whyslow-served-"));
const shots = join(root, "target/page");
mkdirSync(shots, { recursive: true });
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

/** Starts a server; its address and how to end it. */
async function serve(paths, more = []) {
  const child = spawn(WHYSLOW_QUERY, ["serve", ...more, ...paths], {
    env: { ...process.env, WHYSLOW_PROGRAM: WHYSLOW, XDG_CACHE_HOME: join(folder, "cache") }, stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (data) => { said += data; });
  const url = await new Promise((done, failed) => {
    let text = "";
    child.stdout.on("data", (data) => {
      text += data;
      if (text.includes("\n")) done(text.trim());
    });
    child.on("exit", (code) => failed(new Error(`the server ended with ${code}: ${said}`)));
  });
  return { url, child, end: () => new Promise((done) => { child.on("exit", done); child.kill("SIGINT"); }) };
}

/** A recording of so many calls, made by the project's writer. */
function made(name, millions, threads) {
  const path = join(folder, name);
  execFileSync(join(dirname(WHYSLOW_QUERY), "examples/make_recording"), [path, String(millions), String(threads)]);
  return path;
}

async function open(browser, url) {
  const tab = await browser.newPage();
  await tab.setViewport({ width: 1280, height: 900 });
  const troubles = [];
  const host = new URL(url).host;
  tab.on("console", (message) => { if (["error", "warn"].includes(message.type()) && !/favicon/.test(message.location()?.url ?? "")) troubles.push(`${message.text()} ${message.location()?.url}`); });
  tab.on("pageerror", (error) => troubles.push(String(error)));
  tab.on("request", (request) => { if (!/^(data|blob):/.test(request.url()) && new URL(request.url()).host !== host) troubles.push(`asks for ${request.url()}`); });
  await tab.goto(url, { waitUntil: "domcontentloaded" });
  return { tab, troubles };
}

/** From the list to the page of the first recording. */
async function first(tab) {
  await tab.waitForSelector(".ws tbody a", { timeout: 20_000 });
  await Promise.all([tab.waitForNavigation({ waitUntil: "domcontentloaded" }), tab.click(".ws tbody a")]);
  await tab.waitForSelector("#whyslow-app[data-ready]", { timeout: 30_000 });
}

const ready = (tab, what) => tab.waitForSelector(`#whyslow-app[data-ready=${what}]`, { timeout: 120_000 });

async function view(tab, hash) {
  await tab.evaluate((to) => { location.hash = to; }, hash);
  await sleep(200);
}

const TESTS = {
  async views(browser) {
    mkdirSync(join(folder, "served"));
    made("served/busy.whyslow", 0.4, 6);
    const server = await serve([join(folder, "served")]);
    const { tab, troubles } = await open(browser, server.url);
    assert.ok(!(await tab.evaluate(() => location.href)).includes("token"), "the token does not stay in the address");
    assert.equal(await tab.evaluate(() => document.cookie), "", "no script reads the cookie");
    await first(tab);
    await tab.waitForSelector(".ws-rows canvas");
    await ready(tab, "diagnosis");
    assert.ok((await tab.$$("#whyslow-report section, #whyslow-report article")).length > 0, "the report is there");
    // A zoom beyond what the page holds asks the server, and shows calls.
    await view(tab, "timeline?from=1000000000&to=1002000000");
    await tab.waitForSelector(".ws-said[data-zoom^=calls]", { timeout: 10_000 });
    await tab.focus(".ws-rows canvas");
    await tab.keyboard.press("ArrowDown");
    await sleep(300);
    await tab.keyboard.press("n");
    await tab.waitForSelector(".ws-card .ws-raw pre", { timeout: 10_000 });
    assert.match(await tab.$eval(".ws-card .ws-raw pre", (each) => each.textContent), /^\w+\(.*\) = /);
    const link = await tab.evaluate(() => location.href);
    await tab.screenshot({ path: join(shots, "served-zoom.png"), fullPage: true });
    // Rows behind it.
    await view(tab, "calls?from=1000000000&to=1002000000");
    await tab.waitForSelector("[aria-label=Calls] tbody tr", { timeout: 30_000 });
    assert.ok((await tab.$$("[aria-label=Calls] tbody tr")).length > 5);
    await view(tab, "calls?only-call=fsync&sort=took");
    await tab.waitForFunction(() => [...document.querySelectorAll("[aria-label=Calls] tbody tr td:nth-child(4)")].length === 100
      && [...document.querySelectorAll("[aria-label=Calls] tbody tr td:nth-child(4)")].every((cell) => cell.textContent === "fsync"), { timeout: 30_000 });
    // SQL.
    await view(tab, "sql");
    await tab.click("form button[type=submit]");
    await tab.waitForSelector(".ws-answer tbody tr", { timeout: 60_000 });
    const rows = await tab.$$eval(".ws-answer tbody tr", (all) => all.map((row) => row.firstElementChild.textContent));
    assert.ok(rows.includes("fsync") && rows.includes("read"), rows.join());
    await tab.$eval(".ws-sql", (box) => { box.value = "COPY (SELECT 1) TO '/tmp/x'"; box.dispatchEvent(new Event("input", { bubbles: true })); });
    await sleep(100);
    await tab.click("form button[type=submit]");
    await tab.waitForSelector("[role=alert]", { timeout: 30_000 });
    troubles.splice(0, troubles.length, ...troubles.filter((each) => !/400 \(Bad Request\)/.test(each)));
    await tab.screenshot({ path: join(shots, "served-sql.png"), fullPage: true });
    // A link leads to the same call in a new tab.
    const { tab: other, troubles: more } = await open(browser, link);
    await ready(other, "diagnosis");
    await other.waitForSelector(".ws-card", { timeout: 10_000 });
    // Who has no cookie gets nothing.
    const stranger = await browser.createBrowserContext();
    const outside = await stranger.newPage();
    const answer = await outside.goto(link);
    assert.equal(answer.status(), 401);
    await stranger.close();
    assert.deepEqual([...troubles, ...more], []);
    await server.end();
  },

  async hostile(browser) {
    const served = join(folder, "hostile");
    mkdirSync(served);
    made("hostile/a.whyslow", 0.05, 2);
    cpSync(join(served, "a.whyslow"), join(served, "<img src=x onerror=window.hostile=1>.whyslow"), { recursive: true });
    rmSync(join(served, "a.whyslow"), { recursive: true });
    const server = await serve([served]);
    const { tab, troubles } = await open(browser, server.url);
    await first(tab);
    await ready(tab, "diagnosis");
    await view(tab, "sql?sql=SELECT%20%27%3Cimg%20src%3Dx%20onerror%3Dwindow.hostile%3D1%3E%27");
    await sleep(300);
    assert.equal(await tab.$(".ws-answer"), null, "a question in a link waits until somebody asks it");
    await tab.click("form button[type=submit]");
    await tab.waitForSelector(".ws-answer tbody td", { timeout: 60_000 });
    assert.match(await tab.$eval(".ws-answer tbody td", (cell) => cell.textContent), /<img src=x/);
    assert.equal(await tab.evaluate(() => window.hostile), undefined);
    // Another site's page gets nothing out of ours, though the browser has the cookie.
    const port = new URL(server.url).port;
    const evil = await browser.newPage();
    await evil.goto("data:text/html,<p>x");
    const got = await evil.evaluate(async (at) => {
      const tries = [`http://127.0.0.1:${at}/api/recordings`, `http://127.0.0.1:${at}/`];
      return Promise.all(tries.map((address) => fetch(address, { credentials: "include" }).then((answer) => answer.text(), () => "")));
    }, port);
    assert.deepEqual(got, ["", ""]);
    assert.deepEqual(troubles, []);
    await server.end();
  },

  async live(browser) {
    const served = join(folder, "live");
    mkdirSync(served);
    const target = spawn("python3", ["-c", "import os,time\nwhile True:\n    open('/etc/hostname').read()\n    time.sleep(0.005)\n"], { stdio: "ignore" });
    const server = await serve([served], ["--allow-record"]);
    try {
      const { tab } = await open(browser, server.url);
      await tab.waitForSelector("input[list=ws-processes]", { timeout: 20_000 });
      await tab.type("input[list=ws-processes]", String(target.pid));
      await tab.click("[aria-label=Record] button[type=submit]");
      const begun = performance.now();
      const started = await tab.waitForSelector("[aria-label=Record] .ws-bar a, [aria-label=Record] [role=alert]", { timeout: 40_000 });
      const said = await started.evaluate((each) => (each.getAttribute("role") === "alert" ? each.textContent : ""));
      if (said) {
        console.log(`skipped: this machine does not let it record: ${said}`);
        return;
      }
      await Promise.all([tab.waitForNavigation({ waitUntil: "domcontentloaded" }), started.click()]);
      await ready(tab, "diagnosis");
      const firstTold = performance.now() - begun;
      const account = () => tab.evaluate(() => document.getElementById("whyslow-report").textContent);
      const before = await account();
      await tab.waitForFunction((old) => document.getElementById("whyslow-report").textContent !== old, { timeout: 30_000 }, before);
      console.log(`live: the first diagnosis after ${Math.round(firstTold)} ms, the next after ${Math.round(performance.now() - begun)} ms`);
      await tab.waitForSelector("[aria-label=Record] button", { timeout: 10_000 });
      await tab.screenshot({ path: join(shots, "served-live.png"), fullPage: true });
      await tab.click("[aria-label=Record] button");
      await tab.waitForFunction(() => !document.querySelector(".ws-status")?.textContent.includes("goes on"), { timeout: 60_000 });
      assert.equal(target.exitCode, null, "the target runs on");
      const name = readdirSync(served).find((each) => each.endsWith(".whyslow"));
      const report = execFileSync(WHYSLOW, ["diagnose", "--json", join(served, name)]).toString();
      assert.ok(JSON.parse(report).verdict, "what was recorded can be diagnosed");
    } finally {
      target.kill();
      await server.end();
    }
  },

  // Figures for docs/SERVE.md: WHYSLOW_LARGE names a recording of 1 GB, else one of a few megabytes is made, which only shows that it works.
  async large(browser) {
    const path = process.env.WHYSLOW_LARGE ?? made("large.whyslow", 2, 24);
    const server = await serve([path]);
    const { tab, troubles } = await open(browser, server.url);
    await tab.waitForSelector(".ws tbody a", { timeout: 20_000 });
    const begun = performance.now();
    await Promise.all([tab.waitForNavigation({ waitUntil: "domcontentloaded" }), tab.click(".ws tbody a")]);
    await tab.waitForSelector("#whyslow-app[data-ready] .ws-rows canvas", { timeout: 60_000 });
    const firstView = performance.now() - begun;
    const times = { indexing: [], indexed: [] };
    const length = await tab.evaluate(async () => (await (await fetch(`/api${location.pathname}page`)).json()).page.runs[0].length);
    let state = 11;
    const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
    const zoom = async (into) => {
      const span = length / 10 ** (random() * 6);
      const from = random() * (length - span);
      const took = await tab.evaluate(async (a, b) => {
        const page = window.wsPage ?? (window.wsPage = await (await fetch(`/api${location.pathname}page`)).json());
        const run = page.page.runs[0];
        const tids = run.threads.slice(0, 30).map((thread) => thread.tid).join(",");
        const begin = performance.now();
        const answer = await fetch(`/api${location.pathname}window?zero=${run.origin}&from=${Math.floor(a)}&to=${Math.ceil(b)}&pixels=2000&threads=${tids}`);
        const answered = performance.now();
        const text = await answer.text();
        const came = performance.now();
        const data = JSON.parse(text);
        return { all: performance.now() - begin, server: answered - begin, transfer: came - answered, bytes: text.length, rows: data.rows_read, exact: data.exact };
      }, from, from + span);
      into.push(took);
    };
    const indexed = () => tab.evaluate(async () => (await (await fetch(`/api${location.pathname}status`)).json()).indexed === 1);
    while (!(await indexed())) await zoom(times.indexing);
    const whole = performance.now() - begun;
    for (let i = 0; i < 200; i++) await zoom(times.indexed);
    const of = (all, key, p) => all.map((each) => each[key]).sort((a, b) => a - b)[Math.min(all.length - 1, Math.floor(all.length * p))] ?? 0;
    const told = (all) => {
      const slow = [...all].sort((a, b) => b.all - a.all).slice(0, 5).map((each) => `${Math.round(each.all)} ms (server ${Math.round(each.server)}, transfer ${Math.round(each.transfer)}, ${Math.round(each.bytes / 1000)} KB, ${each.rows} rows)`);
      return `${all.length} zooms: ${["all", "server", "transfer"].map((key) => `${key} p50 ${Math.round(of(all, key, 0.5))} ms, p95 ${Math.round(of(all, key, 0.95))} ms`).join("; ")}; slowest: ${slow.join(", ")}`;
    };
    console.log(`large: first view after ${Math.round(firstView)} ms, index complete after ${Math.round(whole)} ms`);
    console.log(`large: while it is indexed (and diagnosed), ${told(times.indexing)}`);
    console.log(`large: afterwards, ${told(times.indexed)}`);
    const seen = performance.now();
    await ready(tab, "diagnosis").catch(() => console.log("large: the diagnosis takes longer than two minutes"));
    console.log(`large: the diagnosis ${Math.round((performance.now() - begun) / 1000)} s after the page was opened (${Math.round(performance.now() - seen)} ms were waited for)`);
    await tab.screenshot({ path: join(shots, "served-large.png"), fullPage: true });
    assert.ok(firstView < 5_000, `the first view took ${firstView} ms`);
    assert.ok(of(times.indexed, "all", 0.95) < 1_000, "zooms are slow");
    assert.deepEqual(troubles, []);
    await server.end();
  },
};

const names = process.argv.slice(2);
const browser = await puppeteer.launch({ executablePath: CHROMIUM, headless: true, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
try {
  for (const name of names) {
    assert.ok(TESTS[name], `no test is called ${name}`);
    await TESTS[name](browser);
    console.log(`${name}: passed`);
  }
} finally {
  await browser.close();
  if (existsSync(folder)) rmSync(folder, { recursive: true });
}
