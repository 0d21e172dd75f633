// Tests what a zoom takes from a server: when it is asked, and how its answer stands in the model.
import { expect, test } from "vitest";
import type { Page } from "../../src/data";
import { models } from "../../src/data/model";
import { placeOf } from "../../src/data/slices";
import type { WindowData } from "../../src/served/source";
import { EVENTS, shows, withWindow } from "../../src/served/window";
import { pageOf, run } from "../pages.mjs";

const answer = (tid: number): WindowData => ({
  from: 0, to: 1000, exact: true, indexed: 1, tids: [4711, tid], rows_read: 3, texts: ["futex", "lock a"],
  tiles: { buckets: 10, from: 0, width: 100, thread: [1, 1], bucket: [0, 3], state: [4, 12], ns: [60, 100] },
  slices: { thread: [1, 1, 0], start: [100, 200, 50], took: [50, null, 5], state: [4, 4, 4], call: [0, 0, 0], object: [1, null, 1], error: [null, null, null], seq: [70, 9_000_000_000, 5] },
});

test("an answer shows what it covers, finely enough, of the threads that it has", () => {
  const got = answer(70);
  expect(shows(null, 0, 10, 100, [])).toBe(false);
  expect(shows(got, 100, 900, 800, [70])).toBe(true);
  expect(shows(got, -1, 900, 800, [70])).toBe(false);
  expect(shows(got, 100, 900, 800, [70, 71])).toBe(false);
  expect(shows({ ...got, exact: false }, 100, 900, 800, [70])).toBe(false);
  expect(shows({ ...got, exact: false }, 0, 1000, 20, [70])).toBe(true);
  expect(shows({ ...got, indexed: 0.5 }, 100, 900, 800, [70])).toBe(false);
});

test("its calls and tiles stand in place of the page's own, and its events can be linked to", () => {
  const [base] = models(JSON.parse(JSON.stringify(pageOf([run({ calls: 50 })]))) as Page);
  const thread = 2;
  const model = withWindow(base, answer(base.threads[thread].tid));
  // The thread that the page does not know is left out.
  expect([model.slices.count, model.exact]).toEqual([2, true]);
  const first = placeOf(model.slices, EVENTS + 70);
  expect([model.slices.start[first], model.slices.took[first]]).toEqual([100, 50]);
  expect([model.texts[model.slices.call[first]], model.texts[model.slices.object[first]]]).toEqual(["futex", "lock a"]);
  const late = placeOf(model.slices, EVENTS + 9_000_000_000);
  expect([model.slices.start[late], model.slices.took[late]]).toEqual([300, Number.NaN]);
  expect([placeOf(model.slices, 0), placeOf(model.slices, null)]).toEqual([-1, -1]);
  expect([...model.tiles.first].slice(thread, thread + 2)).toEqual([0, 2]);
  expect(model.texts[base.threads[0].name]).toBe(base.texts[base.threads[0].name]);
});
