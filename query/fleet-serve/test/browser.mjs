// Opens what `whyslow fleet serve` serves in a real browser: views of a synthetic fleet by light and by dark, by keyboard, with axe; names that are
// markup; logins by token and at a provider. Tests by name, as query/fleet-serve/test/run lists them.
//
// usage: WHYSLOW=… WHYSLOW_QUERY=… CHROMIUM=… node query/fleet-serve/test/browser.mjs NAME…   (views hostile token provider)
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import { createServer } from "node:http";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../../..");
const require = createRequire(join(root, "page/package.json"));
const { default: puppeteer } = await import(require.resolve("puppeteer-core"));
const axe = readFileSync(join(root, "page/node_modules/axe-core/axe.min.js"), "utf8");
const { WHYSLOW, WHYSLOW_QUERY, CHROMIUM } = process.env;
const folder = mkdtempSync(join(tmpdir(), "whyslow-fleet-"));
const shots = join(root, "target/page");
mkdirSync(shots, { recursive: true });
const SPAN = "since=6h&until=2026-11-27";
const TOKEN = "a-token-0123456789abcdef";

/** What an example of the workspace writes. */
function made(example, name, more = []) {
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  execFileSync(join(dirname(WHYSLOW_QUERY), "examples", example), [path, ...more]);
  return path;
}

const fleet = () => made("synthetic_fleet", "fleet", ["--hosts", "24", "--hours", "6", "--loose", "1"]);

/** Servers that run: none is left behind by a test that fails. */
const servers = new Set();

/** Starts a server; its address, and how to end it. */
async function serve(parts, settings = "", more = []) {
  const file = join(folder, `settings${Math.random()}.toml`);
  writeFileSync(file, settings);
  const child = spawn(WHYSLOW_QUERY, ["fleet", "--root", parts, "serve", "--settings", file, ...(settings.includes("bind") ? [] : ["--bind", "127.0.0.1:0"]), ...more], {
    env: { ...process.env, WHYSLOW_PROGRAM: WHYSLOW, XDG_CACHE_HOME: join(folder, "cache") }, stdio: ["ignore", "pipe", "pipe"],
  });
  servers.add(child);
  child.on("exit", () => servers.delete(child));
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
  return { url, at: new URL(url).origin, said: () => said, end: () => new Promise((done) => { child.on("exit", done); child.kill("SIGINT"); }) };
}

async function tabOf(context, hosts) {
  const tab = await context.newPage();
  await tab.setViewport({ width: 1280, height: 900 });
  const troubles = [];
  tab.on("console", (message) => { if (["error", "warn"].includes(message.type())) troubles.push(`${message.text()} ${message.location()?.url}`); });
  tab.on("pageerror", (error) => troubles.push(String(error)));
  tab.on("dialog", (dialog) => { troubles.push(`a dialog: ${dialog.message()}`); dialog.dismiss(); });
  tab.on("request", (request) => { if (!/^(data|blob):/.test(request.url()) && !hosts.includes(new URL(request.url()).origin)) troubles.push(`asks for ${request.url()}`); });
  return { tab, troubles };
}

/** No serious violation of WCAG 2 A and AA. axe goes in by the debugger, which the page's policy does not bind. */
async function accessible(tab, what) {
  await tab.evaluate(axe);
  const found = await tab.evaluate(() => axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"] }));
  const serious = found.violations.filter((each) => ["serious", "critical"].includes(each.impact));
  assert.deepEqual(serious.map((each) => `${what}: ${each.id}: ${each.nodes[0].html.slice(0, 160)} ${each.nodes[0].failureSummary}`), []);
}

async function go(tab, url) {
  const answer = await tab.goto(url, { waitUntil: "load" });
  return answer.status();
}

/** Logs in by the address that the server printed. It leads to the overview of the last 24 hours, of which these fleets have nothing: 404. */
async function enter(tab, server, troubles) {
  assert.equal(await go(tab, server.url), 404);
  assert.match(await text(tab, "main"), /no agent reported/);
  assert.equal(troubles.filter((each) => !/404 \(Not Found\)/.test(each)).length, 0, troubles.join());
  troubles.length = 0;
}

const text = (tab, selector) => tab.$eval(selector, (each) => each.textContent);

async function follow(tab, selector) {
  await Promise.all([tab.waitForNavigation({ waitUntil: "load" }), tab.click(selector)]);
}

const TESTS = {
  async views(browser) {
    const kept = join(folder, "kept");
    mkdirSync(kept);
    execFileSync(join(dirname(WHYSLOW_QUERY), "examples/make_recording"), [join(kept, "a.whyslow"), "0.02", "3"]);
    const server = await serve(fleet(), "", ["--recordings", kept]);
    const { tab, troubles } = await tabOf(browser, [server.at]);
    await enter(tab, server, troubles);
    assert.ok(!tab.url().includes("token"), "the token does not stay in the address");
    assert.equal(await tab.evaluate(() => document.cookie), "", "no script reads the cookie");
    const views = {
      overview: `/?${SPAN}`,
      hosts: `/hosts?${SPAN}`,
      host: `/host?name=web-00003&${SPAN}`,
      service: `/service?name=ledger&${SPAN}`,
      finding: `/finding?rule=fsync-per-write&service=ledger&${SPAN}`,
      why: `/why?service=ledger&at=22:40&${SPAN}`,
      versions: `/versions?old=v1.8&new=v1.9&since=1h&until=2026-11-27`,
      recordings: "/recordings",
      nothing: `/service?name=nothing&${SPAN}`,
    };
    for (const scheme of ["light", "dark"]) {
      await tab.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
      for (const [name, path] of Object.entries(views)) {
        const status = await go(tab, server.at + path);
        assert.equal(status, name === "nothing" ? 404 : 200, name);
        await accessible(tab, `${name} (${scheme})`);
        await tab.screenshot({ path: join(shots, `fleet-${name}-${scheme}.png`), fullPage: true });
        const wide = await tab.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.ok(wide <= 0, `${name}: it is ${wide} px wider than the window`);
      }
    }
    // A narrow window too.
    await tab.setViewport({ width: 420, height: 800 });
    for (const name of ["overview", "finding", "service"]) {
      await go(tab, server.at + views[name]);
      const wide = await tab.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok(wide <= 0, `${name}: it is ${wide} px wider than a narrow window`);
    }
    await tab.setViewport({ width: 1280, height: 900 });
    // From the overview down to a host, by links that keep the time.
    await go(tab, server.at + views.overview);
    await follow(tab, "a[href^='/finding?rule=n-plus-one-queries']");
    assert.match(await text(tab, "h1"), /n-plus-one-queries of checkout/);
    assert.ok((await tab.$$("svg rect.life.open")).length > 0, "it continues on some hosts");
    await follow(tab, "a[href^='/host?name=']");
    assert.ok(tab.url().includes(SPAN), tab.url());
    // Bars have colours, and what is drawn stands in a table too.
    await go(tab, server.at + views.service);
    const fills = await tab.$$eval("svg.chart rect.s", (all) => [...new Set(all.map((each) => getComputedStyle(each).fill))]);
    assert.ok(fills.length >= 3 && !fills.includes("rgb(0, 0, 0)"), fills.join());
    assert.ok((await tab.$$("details table tbody tr")).length >= 70);
    // Another time: as it is typed.
    await tab.$eval("input[name=since]", (input) => { input.value = "2026-11-26T22:30"; });
    await follow(tab, "form.times button");
    assert.match(tab.url(), /since=2026-11-26T22%3A30/);
    assert.match(await text(tab, "h1"), /ledger/);
    assert.match(await text(tab, "main"), /From 2026-11-26 22:30 until 2026-11-27 00:00/);
    // By keyboard: to the content, to the filter, and a heading that sorts.
    await go(tab, server.at + views.hosts);
    await tab.keyboard.press("Tab");
    assert.equal(await tab.evaluate(() => document.activeElement.className), "skip");
    await tab.keyboard.press("/");
    assert.equal(await tab.evaluate(() => document.activeElement.type), "search");
    await tab.keyboard.type("web-00007");
    const seen = () => tab.$$eval("tbody tr", (rows) => rows.filter((row) => !row.hidden).map((row) => row.cells[0].textContent));
    assert.deepEqual(await seen(), ["web-00007"]);
    await tab.$eval("input[type=search]", (input) => { input.value = ""; input.dispatchEvent(new Event("input")); });
    await tab.focus("thead th button");
    await tab.keyboard.press("Enter");
    const sorted = await seen();
    assert.deepEqual(sorted, [...sorted].sort());
    assert.equal(await tab.$eval("thead th", (each) => each.getAttribute("aria-sort")), "ascending");
    // The page of a recording.
    await go(tab, server.at + views.recordings);
    await follow(tab, "tbody a");
    await tab.waitForSelector("#whyslow-app[data-ready]", { timeout: 60_000 });
    await tab.waitForSelector(".ws-rows canvas", { timeout: 60_000 });
    await tab.screenshot({ path: join(shots, "fleet-recording.png"), fullPage: true });
    // Who is not logged in is asked to.
    const stranger = await browser.createBrowserContext();
    const outside = await stranger.newPage();
    await go(outside, server.at + views.hosts);
    assert.match(outside.url(), /\/login\?next=/);
    await stranger.close();
    assert.deepEqual(troubles.filter((each) => !/404 \(Not Found\).*nothing/.test(each)), []);
    await server.end();
  },

  async hostile(browser) {
    const server = await serve(made("hostile_fleet", "hostile"));
    const { tab, troubles } = await tabOf(browser, [server.at]);
    await enter(tab, server, troubles);
    const span = "since=1h&until=2026-11-27";
    await go(tab, `${server.at}/?${span}`);
    const linked = () => tab.$$eval("main a", (all) => all.map((each) => each.getAttribute("href")));
    const links = await linked();
    await go(tab, `${server.at}/hosts?${span}`);
    links.push(...await linked());
    const pages = [...new Set(links.filter((each) => /^\/(finding|service|host)\?/.test(each)))];
    assert.ok(pages.length >= 3, links.join());
    for (const page of pages) {
      assert.equal(await go(tab, server.at + page), 200, page);
      assert.match(await text(tab, "h1"), /<script>alert\(1\)<\/script>/);
      assert.equal((await tab.$$("img")).length, 0);
      await accessible(tab, page);
    }
    assert.deepEqual(troubles, []);
    await server.end();
  },

  async token(browser) {
    const sha256 = createHash("sha256").update(TOKEN).digest("hex");
    const audit = join(folder, "audit.jsonl");
    const server = await serve(fleet(), `audit = '${audit}'\n[[token]]\nname = 'ann'\nsha256 = '${sha256}'\nroles = ['read']\n`);
    assert.ok(!server.url.includes("token"), "no token is made where logins are set up");
    const { tab, troubles } = await tabOf(browser, [server.at]);
    await go(tab, `${server.at}/hosts?${SPAN}`);
    assert.match(tab.url(), /\/login\?next=/);
    await accessible(tab, "the form");
    await tab.type("input[name=token]", "another-token-0123456");
    await follow(tab, "form button");
    assert.match(await text(tab, "[role=alert]"), /none that is known/);
    await accessible(tab, "the form that refuses");
    await tab.type("input[name=token]", TOKEN);
    await follow(tab, "form button");
    assert.ok(tab.url().endsWith(`/hosts?${SPAN}`), tab.url());
    assert.match(await text(tab, ".user"), /ann \(token\)/);
    // Another site's form neither logs out nor in.
    const evil = createServer((request, answer) => {
      answer.setHeader("content-type", "text/html");
      answer.end(`<form method=post action="${server.at}/logout"><input name=csrf value=0></form><script>document.forms[0].submit()</script>`);
    });
    await new Promise((done) => evil.listen(0, "127.0.0.1", done));
    const other = await browser.newPage();
    const answered = new Promise((done) => other.on("response", (response) => { if (response.url().endsWith("/logout")) done(response.status()); }));
    await other.goto(`http://localhost:${evil.address().port}/`);
    assert.equal(await answered, 403);
    await other.close();
    evil.close();
    assert.equal(await go(tab, `${server.at}/recordings`), 200);
    await follow(tab, ".user button");
    assert.match(tab.url(), /\/login$/);
    await go(tab, `${server.at}/recordings`);
    assert.match(tab.url(), /\/login\?next=/);
    const lines = readFileSync(audit, "utf8").trim().split("\n").map((line) => JSON.parse(line));
    const events = lines.map((line) => line.event).filter((event) => event !== "request");
    assert.deepEqual(events, ["login-failed", "login", "refused", "logout"]);
    assert.ok(!JSON.stringify(lines).includes(TOKEN));
    assert.deepEqual(troubles.filter((each) => !/401 \(Unauthorized\)/.test(each)), []);
    await server.end();
  },

  // Against a certified provider that runs here.
  async provider(browser) {
    const { default: Provider } = await import(createRequire(join(here, "package.json")).resolve("oidc-provider"));
    const port = await new Promise((done) => { const probe = createServer().listen(0, "127.0.0.1", () => { const { port } = probe.address(); probe.close(() => done(port)); }); });
    const own = await new Promise((done) => { const probe = createServer().listen(0, "127.0.0.1", () => { const { port } = probe.address(); probe.close(() => done(port)); }); });
    const issuer = `http://localhost:${port}`;
    const at = `http://localhost:${own}`;
    const provider = new Provider(issuer, {
      clients: [{ client_id: "whyslow", client_secret: "client-secret-0123456789", redirect_uris: [`${at}/login/oidc/callback`] }],
      claims: { openid: ["sub"], profile: ["preferred_username"], groups: ["groups"] },
      pkce: { required: () => true },
      cookies: { keys: ["a key of the test"] },
      findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, preferred_username: id, groups: id === "ann" ? ["staff", "sre"] : ["guests"] }) }),
    });
    const listening = await new Promise((done) => { const server = provider.listen(port, "127.0.0.1", () => done(server)); });
    const secret = join(folder, "secret");
    writeFileSync(secret, "client-secret-0123456789\n");
    const server = await serve(fleet(), `bind = '127.0.0.1:${own}'\nurl = '${at}'\n[oidc]\nissuer = '${issuer}'\nclient_id = 'whyslow'\nclient_secret_file = '${secret}'\n`
      + "scopes = ['profile', 'groups']\nroles = { read = ['staff'], dump = ['sre'] }\n");
    const login = async (context, name) => {
      const tab = await context.newPage();
      await go(tab, `${at}/hosts?${SPAN}`);
      await accessible(tab, "the form");
      await follow(tab, "a.button");
      assert.equal(new URL(tab.url()).origin, issuer);
      await tab.type("input[name=login]", name);
      await tab.type("input[name=password]", "whatever");
      await follow(tab, "[type=submit]");
      // The provider asks whether it may tell who it is.
      await Promise.all([tab.waitForResponse((response) => response.url().startsWith(`${at}/login/oidc/callback`)), tab.click("[type=submit]")]);
      return tab;
    };
    const first = await browser.createBrowserContext();
    const tab = await login(first, "ann");
    await tab.waitForFunction((to) => location.href.endsWith(to), { timeout: 20_000 }, `/hosts?${SPAN}`).catch(() => assert.fail(`${tab.url()}: ${server.said()}`));
    assert.match(await text(tab, ".user"), /ann \(oidc\)/);
    assert.equal(await tab.evaluate(() => document.cookie), "");
    await follow(tab, ".user button");
    assert.match(tab.url(), /\/login$/);
    await first.close();
    const second = await browser.createBrowserContext();
    const guest = await login(second, "bob");
    await guest.waitForSelector("[role=alert]", { timeout: 20_000 });
    assert.match(await text(guest, "[role=alert]"), /none of your groups/);
    await second.close();
    await server.end();
    listening.closeAllConnections();
    listening.close();
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
  for (const child of servers) child.kill("SIGKILL");
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
