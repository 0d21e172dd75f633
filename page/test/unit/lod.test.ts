// Levels of detail: what is drawn stands for all there is, and a click finds what is there.
import { expect, test } from "vitest";
import { hit, longest, spans, visible } from "../../src/data/lod";
import { runModel } from "../../src/data/model";
import { NONE, range, slices } from "../../src/data/slices";
import { run } from "../pages.mjs";

const raw = (rows: [thread: number, start: number, took: number | null, state: number][]) => {
  let before = 0;
  const starts = rows.map(([, start]) => { const delta = start - before; before = start; return delta; });
  const none = rows.map(() => null);
  return { thread: rows.map((row) => row[0]), start: starts, took: rows.map((row) => row[2]), state: rows.map((row) => row[3]), call: rows.map(() => 0), object: none, error: none, site: none, line: none };
};

test("deltas become starts, by thread; unknown ends stay unknown; unknown threads are left out", () => {
  const of = slices(raw([[1, 10, 5, 3], [0, 20, null, 4], [9, 25, 1, 1], [1, 30, 5, 3]]), 2);
  expect([...of.start]).toEqual([20, 10, 30]);
  expect(of.took[0]).toBeNaN();
  expect([...of.place]).toEqual([1, 0, NONE, 2]);
  expect([...of.first]).toEqual([0, 1, 3]);
});

test("a long call over many short ones is in range while it lasts", () => {
  const of = slices(raw([[0, 0, 1000, 2], [0, 10, 5, 3], [0, 20, 5, 3]]), 1);
  expect(range(of, 0, 500, 600)).toEqual([0, 3]);
  expect(range(of, 0, 1001, 1100)).toEqual([3, 3]);
  expect(hit(of, 0, 12, 0, null)).toBe(1);
  expect(hit(of, 0, 500, 0, null)).toBe(0);
  expect(hit(of, 0, 1100, 50, null)).toBe(-1);
});

test("slices under a pixel are merged, wider ones are not", () => {
  const of = slices(raw([[0, 0, 1, 3], [0, 2, 1, 3], [0, 4, 2, 4], [0, 500, 400, 5]]), 1);
  const out = spans(1);
  visible(of, 0, 0, 1000, 100, null, out);
  expect(out.count).toBe(2);
  expect([out.slice[0], out.state[0], out.slice[1], out.state[1]]).toEqual([-1, 4, 3, 5]);
  visible(of, 0, 0, 10, 100, (i) => of.state[i] === 3, out);
  expect(out.count).toBe(2);
});

test("of many slices no more spans come out than fit, and they cover the same time", () => {
  const model = runModel(run({ calls: 200_000, threads: 1 }));
  const out = spans();
  visible(model.slices, 0, 0, model.length, 1000, null, out);
  expect(out.count).toBeLessThanOrEqual(2200);
  expect(out.from[0]).toBeLessThan(1);
  expect(out.to[out.count - 1]).toBeGreaterThan(998);
  for (let i = 1; i < out.count; i++) expect(out.from[i]).toBeGreaterThanOrEqual(out.from[i - 1]);
});

test("the longest come first", () => {
  const model = runModel(run({ calls: 5000 }));
  const found = longest(model.slices, [0, 1, 2], 0, model.length, 10, null).map((i) => model.slices.took[i]);
  const all = [0, 1, 2].flatMap((thread) => [...model.slices.took.subarray(model.slices.first[thread], model.slices.first[thread + 1])]).filter((took) => took >= 0);
  expect(found).toEqual(all.sort((a, b) => b - a).slice(0, 10));
});
