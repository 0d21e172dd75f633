// Opens made-up pages in a real browser, clicks through them, and measures. Tests by name, as `page/test/run --list` says them.
//
// usage: node test/browser/run.mjs NAME…   (views links leads hostile compare large)
//        node test/browser/run.mjs --measure FILE.html | --file FILE.html
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";
import { DIFF, html, pageOf, run } from "../pages.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const bundle = join(here, "../../../crates/page/bundle");
const shots = join(here, "../../../target/page");
const chromium = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) => path && existsSync(path));
const axe = readFileSync(join(here, "../../node_modules/axe-core/axe.min.js"), "utf8");
mkdirSync(shots, { recursive: true });
const folder = mkdtempSync(join(tmpdir(), "whyslow-page-"));

const VIEWS = ["timeline", "account", "waits", "flame", "requests", "tables", "calls", "host"];
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

/** Writes the page and opens it; `troubles` gathers what the browser complains of. */
async function open(browser, name, page, hash = "") {
  const file = join(folder, `${name}.html`);
  writeFileSync(file, html(page, bundle));
  return openFile(browser, file, hash);
}

async function openFile(browser, file, hash = "") {
  const tab = await browser.newPage();
  await tab.setViewport({ width: 1280, height: 900 });
  const troubles = [];
  tab.on("console", (message) => { if (["error", "warn"].includes(message.type())) troubles.push(message.text()); });
  tab.on("pageerror", (error) => troubles.push(String(error)));
  tab.on("request", (request) => { if (!/^(file|data|blob):/.test(request.url())) troubles.push(`asks for ${request.url()}`); });
  const begin = performance.now();
  await tab.goto(pathToFileURL(file).href + hash, { waitUntil: "domcontentloaded" });
  await tab.waitForSelector("h1");
  const verdict = performance.now() - begin;
  await tab.waitForSelector("#whyslow-app[data-ready]", { timeout: 30_000 });
  assert.equal(await tab.$eval("#whyslow-app", (place) => place.dataset.ready), "yes");
  return { tab, troubles, verdict, ready: performance.now() - begin };
}

async function view(tab, name) {
  await tab.evaluate((hash) => { location.hash = hash; }, name);
  await sleep(250);
}

/** No serious violation of WCAG 2 A and AA. Scripts of ours run beside the page's policy: axe goes in by the debugger. */
async function accessible(tab, what) {
  await tab.evaluate(axe);
  const found = await tab.evaluate(() => axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"] }));
  const serious = found.violations.filter((each) => ["serious", "critical"].includes(each.impact));
  assert.deepEqual(serious.map((each) => `${what}: ${each.id}: ${each.nodes[0].html.slice(0, 160)} ${each.nodes[0].failureSummary}`), []);
}

/** What is painted on the timeline: how many colours, which says that it is not empty. */
const colours = (tab) => tab.$eval(".ws-rows canvas", (canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const seen = new Set();
  for (let i = 0; i < data.length; i += 4) if (data[i + 3]) seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
  return seen.size;
});

/** A click at a moment of a row of the timeline. */
async function clickRow(tab, part, row) {
  const box = await (await tab.$(".ws-rows canvas")).boundingBox();
  await tab.mouse.click(box.x + 200 + (box.width - 200) * part, box.y + row);
  await sleep(150);
}

const TESTS = {
  async views(browser) {
    const { tab, troubles } = await open(browser, "views", pageOf([run()]));
    for (const scheme of ["light", "dark"]) {
      await tab.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
      for (const name of VIEWS) {
        await view(tab, name);
        assert.equal(await tab.$eval(".ws-tabs [aria-current]", (link) => link.hash.slice(1)), name);
        await accessible(tab, `${name}, ${scheme}`);
        await tab.screenshot({ path: join(shots, `${name}-${scheme}.png`), fullPage: true });
      }
    }
    await tab.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "light" }]);
    // Tables sort, what is unknown last; and filter.
    await view(tab, "tables?table=files&sort=-time");
    const times = await tab.$$eval(".ws tbody tr td:nth-child(3)", (cells) => cells.map((cell) => cell.textContent));
    assert.deepEqual([times[0], times[times.length - 1]], ["21 ms", "–"]);
    await tab.type(".ws-bar input", "lock");
    await sleep(150);
    assert.equal((await tab.$$(".ws tbody tr")).length, 1);
    // A row of the account narrows the timeline.
    await view(tab, "account");
    await (await tab.$(".ws tbody .ws-link")).click();
    await sleep(100);
    assert.match(await tab.evaluate(() => location.hash), /only-call=recvfrom&only-object=%3D10.0.0.7.*&only-thread=%7E1/);
    await tab.click(".ws-tabs a");
    await sleep(150);
    assert.equal((await tab.$$(".ws-chip")).length, 3);
    // Merging by language leaves fewer frames; a search tells a share.
    await view(tab, "flame?kind=off-cpu&search=query");
    assert.match(await tab.$eval(".ws-bar [role=status]", (each) => each.textContent), /% under what matches/);
    // Requests lead to the timeline.
    await view(tab, "requests");
    await (await tab.$$(".ws-scroll:last-child .ws-link")).at(0).click();
    await sleep(150);
    assert.match(await tab.evaluate(() => location.hash), /^#timeline\?from=/);
    await tab.setViewport({ width: 360, height: 740 });
    for (const name of VIEWS) {
      await view(tab, name);
      assert.ok(await tab.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} is wider than 360 px`);
      await tab.screenshot({ path: join(shots, `${name}-360.png`) });
    }
    assert.deepEqual(troubles, []);
  },

  async links(browser) {
    const { tab, troubles } = await open(browser, "links", pageOf([run()]), "#timeline?from=1000000000&to=1200000000&thread=1");
    assert.match(await tab.$eval(".ws-bar .ws-dim", (each) => each.textContent), /200 ms/);
    assert.ok((await colours(tab)) > 4);
    await tab.focus(".ws-rows canvas");
    await tab.keyboard.press("n");
    await sleep(200);
    assert.ok(await tab.$(".ws-card"), "n selects a call");
    const selected = await tab.evaluate(() => location.hash);
    assert.match(selected, /select=\d+/);
    await tab.screenshot({ path: join(shots, "selected.png"), fullPage: true });
    await accessible(tab, "selected");
    // Zoom by key and wheel is in the address, a while later.
    await tab.keyboard.press("+");
    await sleep(500);
    assert.notEqual(await tab.evaluate(() => location.hash), selected);
    // The search finds an error.
    await tab.keyboard.press("/");
    await tab.keyboard.type("ENOENT");
    await tab.keyboard.press("Enter");
    await sleep(200);
    assert.match(await tab.$eval(".ws-card dl", (each) => each.textContent), /ErrorENOENT/);
    // A finding's figure leads to its place, and back.
    const before = await tab.evaluate(() => location.hash);
    await (await tab.$("article p.dim a")).click();
    await sleep(200);
    assert.match(await tab.evaluate(() => location.hash), /^#timeline\?from=2960000000&to=3240000000&thread=0/);
    await tab.goBack();
    await sleep(200);
    assert.equal(await tab.evaluate(() => location.hash), before);
    await view(tab, "timeline");
    await clickRow(tab, 0.3, 120);
    await clickRow(tab, 0.5, 140);
    assert.match(await tab.evaluate(() => location.hash), /thread=/);
    assert.deepEqual(troubles, []);
  },

  // Each figure leads to the calls behind it, each call to its line, which can be copied.
  async leads(browser) {
    const { tab, troubles } = await open(browser, "leads", pageOf([run({ kind: "capture" })]));
    const hash = () => tab.evaluate(() => location.hash);
    const rows = (column) => tab.$$eval(".ws [aria-label=Calls] tbody tr", (all, at) => all.map((row) => row.children[at].textContent), column);
    /** Clicks a figure by its row and column. */
    const figure = async (where, row, column) => {
      await view(tab, where);
      const link = await tab.$(`.ws-scroll:last-of-type tbody tr:nth-child(${row}) td:nth-child(${column}) a.ws-lead`);
      assert.ok(link, `${where}: row ${row}, column ${column} leads nowhere`);
      await link.click();
      await sleep(200);
    };
    // The report's account, read without the views.
    const shares = await tab.$$eval("main li b", (all) => all.map((share) => share.querySelector("a")?.hash ?? null));
    assert.match(shares[0], /^#calls\?only-call=recvfrom/);
    assert.equal(shares[3], null);
    // The account: a row of calls, and one of a state.
    await figure("account", 1, 8);
    assert.match(await hash(), /^#calls\?/);
    assert.deepEqual([new Set(await rows(3)), new Set(await rows(4))], [new Set(["recvfrom"]), new Set(["10.0.0.7:5432"])]);
    const threads = new Set(await rows(2));
    assert.ok(threads.size > 1 && ![...threads].some((each) => /worker-(0|2) /.test(each)), "threads of the row's role");
    await accessible(tab, "calls");
    await tab.screenshot({ path: join(shots, "calls.png"), fullPage: true });
    await figure("account", 3, 2);
    assert.match(await hash(), /^#timeline\?only-state=0&only-thread=%7E1/);
    await view(tab, "account");
    assert.equal((await tab.$$(".ws tbody tr:nth-child(4) a.ws-lead")).length, 0, "of what is not in the page no figure leads anywhere");
    // Tables.
    await figure("tables?table=files", 2, 2);
    assert.deepEqual(new Set(await rows(4)), new Set(["/var/log/app.log"]));
    await figure("tables?table=threads", 4, 2);
    assert.deepEqual(new Set(await rows(2)), new Set(["worker-3 (73)"]));
    await figure("tables?table=requests", 1, 1);
    assert.match(await hash(), /^#requests\?endpoint=/);
    assert.equal((await tab.$$(".ws [aria-pressed=true]")).length, 1);
    await figure("waits", 1, 4);
    assert.match(await hash(), /^#calls\?only-state=\d+&.*only-thread=\d+/);
    await view(tab, "requests");
    await (await tab.$(".ws [aria-label=Endpoints] tbody tr td:nth-child(6) a")).click();
    await sleep(200);
    assert.match(await hash(), /^#timeline\?from=/);
    // A call's line, or where it stands.
    await view(tab, "calls?only-object=%3D/data/items.db&sort=start");
    const lines = await rows(6);
    const kept = lines.findIndex((line) => line.endsWith("Copy"));
    assert.ok(kept >= 0 && lines.some((line) => /^orders\.st:\d+$/.test(line)), lines.slice(0, 5).join());
    await tab.evaluate(() => { window.copied = []; Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => { window.copied.push(text); } } }); });
    await (await tab.$(`.ws [aria-label=Calls] tbody tr:nth-child(${kept + 1}) td:nth-child(7) button`)).click();
    await sleep(100);
    assert.deepEqual(await tab.evaluate(() => window.copied), [lines[kept].replace(/ ?Copy$/, "")]);
    // From there to its place on the timeline, where the line is too.
    await (await tab.$(`.ws [aria-label=Calls] tbody tr:nth-child(${kept + 1}) a`)).click();
    await sleep(200);
    assert.match(await hash(), /^#timeline\?.*select=\d+/);
    assert.equal(await tab.$eval(".ws-card .ws-raw pre", (each) => each.textContent), lines[kept].replace(/ ?Copy$/, ""));
    assert.deepEqual(troubles, []);
  },

  async hostile(browser) {
    const { tab, troubles } = await open(browser, "hostile", pageOf([run({ hostile: true, calls: 500 })]));
    for (const name of [...VIEWS, "timeline?select=0&thread=0", "tables?find=<script>window.hostile=1</script>", "flame?search=\"><img src=x onerror=window.hostile=1>", "account?only-object=<b>"]) {
      await view(tab, name);
      assert.equal(await tab.evaluate(() => window.hostile), undefined, name);
      assert.equal((await tab.$$("#whyslow-app script, #whyslow-app img, #whyslow-app b[onload]")).length, 0, name);
    }
    assert.ok(!(await tab.$eval("#whyslow-app", (place) => place.textContent)).includes("\u202e"), "no mark turns text around");
    await view(tab, "tables");
    await tab.screenshot({ path: join(shots, "hostile.png") });
    // A hash that means nothing does no harm.
    for (const hash of ["timeline?from=x&to=1e999&thread=-4&select=99999999", "flame?kind=__proto__", "nothing", "tables?table=zz&sort=-zz", "timeline?only-thread=77", "timeline?run=9"]) await view(tab, hash);
    assert.deepEqual(troubles, []);
  },

  async compare(browser) {
    const { tab, troubles } = await open(browser, "compare", pageOf([run({ name: "before", slow: 1 }), run({ name: "after", seed: 2, slow: 0.5 })], DIFF));
    assert.equal((await tab.$$(".ws-sides .ws-rows canvas")).length, 2);
    await accessible(tab, "compare");
    await tab.screenshot({ path: join(shots, "compare.png"), fullPage: true });
    await view(tab, "flame?kind=difference");
    await tab.screenshot({ path: join(shots, "flame-difference.png"), fullPage: true });
    await tab.select(".ws-run select", "0");
    await sleep(150);
    assert.match(await tab.evaluate(() => location.hash), /run=0/);
    assert.deepEqual(troubles, []);
  },

  async large(browser) {
    const { tab, troubles, verdict, ready } = await open(browser, "large", pageOf([run({ calls: 1_000_000, threads: 40 })]), "#timeline");
    await sleep(100);
    assert.ok((await colours(tab)) > 4);
    const timeline = ready;
    const client = await tab.createCDPSession();
    await client.send("HeapProfiler.collectGarbage");
    const heap = (await client.send("Runtime.getHeapUsage"));
    const bytes = heap.usedSize + (heap.backingStorageSize ?? 0);
    await tab.focus(".ws-rows canvas");
    const box = await (await tab.$(".ws-rows canvas")).boundingBox();
    await tab.mouse.move(box.x + 700, box.y + 200);
    // Frames while the wheel turns: the time between them, and what of it our own drawing took.
    const frames = tab.evaluate(() => new Promise((done) => {
      const times = [];
      let last = performance.now();
      const each = (now) => {
        times.push(now - last);
        last = now;
        if (times.length < 120) requestAnimationFrame(each);
        else done(times.slice(1).sort((a, b) => a - b));
      };
      requestAnimationFrame(each);
    }));
    for (let i = 0; i < 60; i++) await tab.mouse.wheel({ deltaY: i < 40 ? -60 : 90 });
    const times = await frames;
    const p50 = times[Math.floor(times.length / 2)];
    const p95 = times[Math.floor(times.length * 0.95)];
    console.log(`1,000,000 calls: verdict after ${verdict.toFixed(0)} ms, timeline after ${timeline.toFixed(0)} ms, heap ${(bytes / 1e6).toFixed(0)} MB, frames while zooming p50 ${p50.toFixed(1)} ms, p95 ${p95.toFixed(1)} ms`);
    await tab.screenshot({ path: join(shots, "large.png") });
    assert.ok(verdict < 3000, `the verdict took ${verdict} ms`);
    assert.ok(timeline < 6000, `the timeline took ${timeline} ms`);
    assert.ok(bytes < 300e6, `the heap has ${bytes} bytes`);
    assert.deepEqual(troubles, []);
  },
};

/** Opens a real page ROUNDS times: how long until the verdict and the timeline are there, its memory, what the browser and axe complain of. */
async function measure(browser, file) {
  const all = [];
  for (let round = 0; round < 5; round++) {
    const { tab, troubles, verdict, ready } = await openFile(browser, file, "#timeline");
    assert.ok((await colours(tab)) > 4);
    const client = await tab.createCDPSession();
    await client.send("HeapProfiler.collectGarbage");
    const heap = await client.send("Runtime.getHeapUsage");
    assert.deepEqual(troubles, []);
    if (round === 0) {
      for (const name of await tab.$$eval(".ws-tabs a", (links) => links.map((link) => link.hash.slice(1)))) {
        await view(tab, name);
        await accessible(tab, name);
      }
      assert.deepEqual(troubles, []);
    }
    all.push({ verdict, ready, bytes: heap.usedSize + (heap.backingStorageSize ?? 0) });
    await tab.close();
  }
  const of = (key) => all.map((each) => each[key]).sort((a, b) => a - b);
  const [verdict, ready, bytes] = ["verdict", "ready", "bytes"].map(of);
  console.log(`browser: the verdict after ${verdict[2].toFixed(0)} ms, the timeline after ${ready[2].toFixed(0)} ms (medians of 5; the longest ${verdict[4].toFixed(0)} and ${ready[4].toFixed(0)}), heap ${(bytes[4] / 1e6).toFixed(0)} MB; no complaint on the console, none of axe that is serious, in all views`);
}

async function main() {
  const names = process.argv.slice(2);
  const measured = names[0] === "--measure" ? names[1] : null;
  const file = names[0] === "--file" ? names[1] : null;
  const browser = await puppeteer.launch({ executablePath: chromium, headless: true, protocolTimeout: 60_000,
    args: ["--disable-dev-shm-usage", "--disable-gpu", ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])] });
  try {
    if (measured) await measure(browser, measured);
    else if (file) {
      const { tab, troubles, ready } = await openFile(browser, file);
      for (const name of await tab.$$eval(".ws-tabs a", (links) => links.map((link) => link.hash.slice(1)))) {
        await view(tab, name);
        await tab.screenshot({ path: join(shots, `real-${name}.png`), fullPage: false });
      }
      console.log(`ready after ${ready.toFixed(0)} ms`, troubles);
    } else for (const name of names.length ? names : Object.keys(TESTS)) {
      await TESTS[name](browser);
      console.log(`${name}: passed`);
    }
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
await main();
