// The pure parts of the views: times, addresses, trees, layouts, tables.
import { expect, test } from "vitest";
import { accountBoxes, accountTree } from "../../src/data/account";
import { diagnosisView, diffView } from "../../src/data/diagnosis";
import { flameBoxes, flameTree, functions, matched, weights } from "../../src/data/flame";
import { bytes, moment, name, ns, share, short } from "../../src/data/format";
import { graph } from "../../src/data/graph";
import { busy, runModel } from "../../src/data/model";
import { format, parse, to } from "../../src/data/route";
import { rowAt, rows } from "../../src/data/rows";
import { filterOf, matching, objectMatch, whoText } from "../../src/data/filter";
import { keptCalls, leadRoute } from "../../src/data/lead";
import { nextHit, searched } from "../../src/data/search";
import { shownRows } from "../../src/data/table";
import { wakesIn } from "../../src/data/wakes";
import { DIFF, HOSTILE, run } from "../pages.mjs";

test("times are written as in the reports, and what is unknown is never 0", () => {
  expect([0, 870, 4_200, 4_200_000, 12_340_000_000, 200e9, 8000e9].map(ns)).toEqual(["0 ns", "870 ns", "4.2 us", "4.2 ms", "12.3 s", "3 min 20 s", "2 h 13 min"]);
  expect([ns(999_999), ns(null), ns(NaN), bytes(null), share(undefined)]).toEqual(["1.0 ms", "–", "–", "–", "–"]);
  expect([moment(1_234_500_000, 1e5), moment(1500, 100), bytes(343_800_000)]).toEqual(["1.2345 s", "1.5 us", "343.8 MB"]);
});

test("marks that hide or turn text are shown as codes", () => {
  expect(name(HOSTILE[2])).toBe("\\u{202e}gnp.exe\\u{202c}");
  expect(name("a\u0000b")).toBe("a\\u{0}b");
  expect(short("abcdefghij", 5)).toBe("ab…ij");
});

test("an address comes back as it was written", () => {
  const route = { view: "timeline" as const, values: { from: "1", "only-object": "a&b=<c>#" } };
  expect(parse(format(route))?.values).toEqual(Object.assign(Object.create(null), route.values));
  expect(parse("#elsewhere?x=1")).toBeNull();
  expect(to(route, "flame").values).toEqual({ "only-object": "a&b=<c>#" });
});

test("the account's tree adds up", () => {
  const account = diagnosisView(run().diagnosis).account;
  if (!account) throw new Error("no account");
  const tree = accountTree(account);
  expect(tree.ns).toBe(6e9);
  const boxes = accountBoxes(tree, 0);
  const leaves = boxes.filter((box) => box.node.row);
  expect(leaves.reduce((all, box) => all + box.to - box.from, 0)).toBeCloseTo(1);
});

test("a diagnosis or diff of another shape does no harm", () => {
  expect(diagnosisView({ findings: [3, { title: 4 }], account: { ns: "x" } }).findings.length).toBe(2);
  expect(diffView(7)).toBeNull();
  expect(diffView(DIFF)?.figures[1].before).toBeNull();
});

test("flame graphs keep all weight, whichever way up", () => {
  const { stacks, texts } = run();
  if (!stacks) throw new Error("no stacks");
  const all = stacks.cpu_samples.reduce((a, b) => a + b, 0) * 1e7;
  for (const inverted of [false, true]) for (const byLanguage of [false, true]) {
    const tree = flameTree({ stacks, texts }, "cpu", { inverted, byLanguage });
    expect(tree.total).toBe(all);
    expect(functions(tree, 100).reduce((sum, each) => sum + each.own, 0)).toBe(all);
    const boxes = flameBoxes(tree, null, 1000);
    expect(boxes.every((box) => !box.parent || (box.from >= box.parent.from - 1e-6 && box.to <= box.parent.to + 1e-6))).toBe(true);
  }
  const tree = flameTree({ stacks, texts }, "off-cpu", { inverted: false, byLanguage: false });
  expect(matched(tree, "")).toBe(tree.total);
  expect(matched(tree, "no such")).toBe(0);
  expect(weights({ ...stacks, ns_per_sample: null }, "wall")).toBeNull();
  expect(weights({ ...stacks, ns_per_sample: null }, "cpu")?.unit).toBe("samples");
});

test("a difference holds both sides", () => {
  const [a, b] = [run(), run({ slow: 0.5 })];
  if (!a.stacks || !b.stacks) throw new Error("no stacks");
  const tree = flameTree({ stacks: b.stacks, texts: b.texts }, "difference", { inverted: false, byLanguage: false }, { stacks: a.stacks, texts: a.texts });
  expect(tree.before).toBeGreaterThan(tree.total);
});

test("who waits stands left of what it waits for, circles or not", () => {
  const edge = (from: number, end: number) => ({ from, to: end, object: null, state: 2, ns: 5, count: 1, critical: false });
  const straight = graph([edge(0, 1), edge(1, 2), edge(0, 2)], 10);
  expect(straight.edges.every(({ from, to: end }) => from.layer < end.layer)).toBe(true);
  const circle = graph([edge(0, 1), edge(1, 0), edge(1, 1)], 10);
  expect(circle.nodes.length).toBe(2);
  expect(graph([edge(0, 1), edge(1, 2)], 1).leftOut).toBe(1);
});

test("rows are grouped by process and role, and found by height", () => {
  const model = runModel(run());
  const all = rows(model.threads, model.texts, (thread) => busy(model, thread), new Set());
  expect(all[0]).toMatchObject({ kind: "process", threads: 6 });
  expect(all.filter((row) => row.kind === "thread").length).toBe(8);
  for (const [place, row] of all.entries()) expect(rowAt(all, row.top + 1)).toBe(place);
  expect([rowAt(all, -1), rowAt(all, 1e6)]).toEqual([-1, -1]);
  expect(rows(model.threads, model.texts, () => 0, new Set(["70", "71"])).length).toBe(2);
});

test("the search goes round", () => {
  const model = runModel(run());
  const wanted = searched(model, "enoent");
  if (!wanted) throw new Error("nothing asked");
  const threads = model.threads.map((_, i) => i);
  const first = nextHit(model, threads, wanted, 0, 1, -1);
  expect(model.texts[model.slices.error[first]]).toBe("ENOENT");
  expect(nextHit(model, threads, wanted, model.length * 2, 1, -1)).toBe(first);
  expect(searched(model, " ")).toBeNull();
});

test("what is unknown is sorted last, both ways", () => {
  const table = [["b", 2], ["a", null], ["c", 1]] as (string | number | null)[][];
  expect(shownRows(table, "", 1, 1)).toEqual([2, 0, 1]);
  expect(shownRows(table, "", 1, -1)).toEqual([0, 2, 1]);
  expect(shownRows(table, "C", null, 1)).toEqual([2]);
});

test("wake-ups of a thread are found", () => {
  const model = runModel(run());
  const found = wakesIn(model.wakes, 1, 0, model.length, 3);
  expect(found.length).toBe(3);
  expect(found.every((wake) => wake.from === 4)).toBe(true);
});

test("a figure leads to its calls, requests or time", () => {
  const model = runModel(run());
  const route = { view: "tables" as const, values: { "only-state": "3", table: "files" } };
  const text = (wanted: string): number => model.texts.indexOf(wanted);
  const calls = leadRoute(route, model, { alike: 1, call: text("futex"), object: text("lock orders") });
  expect([calls.view, calls.values]).toMatchObject(["calls", { "only-state": "", "only-call": "futex", "only-object": "=lock orders", "only-thread": "~1", sort: "took" }]);
  expect(leadRoute(route, model, { state: 0, thread: 2 })).toMatchObject({ view: "timeline", values: { "only-state": "0", "only-thread": "2" } });
  expect(leadRoute(route, model, { endpoint: 7 })).toMatchObject({ view: "requests", values: { endpoint: "7", "only-state": "" } });
});

test("threads are named alone, with those alike, or by their process", () => {
  const model = runModel(run());
  const of = (who: string) => filterOf({ view: "calls", values: { "only-thread": who } }, model);
  expect([...(of("2").threads ?? [])]).toEqual([2]);
  expect([...(of("~1").threads ?? [])]).toEqual([1, 3, 7]);
  expect([...(of("pid71").threads ?? [])]).toEqual([2, 5]);
  expect([of("x").threads, of("~").threads, of("").threads]).toEqual([null, null, null]);
  expect([of("~99").threads?.size, of("77").threads?.size]).toEqual([0, 1]);
  expect([whoText(model, of("~1")), whoText(model, of("pid71")), whoText(model, of("2"))]).toEqual(["3 threads like worker-1 (71)", "process 71", "worker-2 (72)"]);
});

test("an object is meant by a part of its name, or by what it is", () => {
  expect([...matching(["/a", "/a/b", "/A"], "/a")]).toEqual([0, 1, 2]);
  expect([...matching(["/a", "/a/b", "/A"], "=/a")]).toEqual([0]);
  const is = objectMatch("=/tmp/{uuid}/x.{n}");
  expect([is("/tmp/1-2/x.7"), is("/tmp/{uuid}/x.{n}"), is("/tmp/1/2/x.7"), is("/tmp/1/x77")]).toEqual([true, true, false, false]);
  const peer = objectMatch("=db (70, 10.0.0.7:5432)");
  expect([peer("TCP:[10.0.0.1:9->10.0.0.7:5432]"), peer("10.0.0.7:5432"), peer("10.0.0.7:54321")]).toEqual([true, true, false]);
});

test("calls behind a figure come longest first, those without an end before", () => {
  const raw = run({ calls: 100 });
  raw.timeline.slices.took[5] = null;
  const model = runModel(raw);
  const all = keptCalls(model, filterOf({ view: "calls", values: {} }, model), null, false, false);
  expect(all.length).toBe(100);
  expect(model.slices.took[all[0]]).toBeNaN();
  expect(all.slice(1).every((i, at) => at === 0 || model.slices.took[i] <= model.slices.took[all[at]])).toBe(true);
});
