// Decoding: what was packed comes out, and what is damaged is said in words.
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { bytesOfBase64, checked, load, Unreadable } from "../../src/data/load";
import { runModel } from "../../src/data/model";
import { pageOf, run } from "../pages.mjs";

test("a page comes out as it was packed", async () => {
  const page = pageOf([run({ calls: 50 })]);
  const text = gzipSync(JSON.stringify(page)).toString("base64").replace(/(.{76})/g, "$1\n");
  expect(await load(text)).toEqual(page);
});

test("damage is said", async () => {
  expect(() => bytesOfBase64("§")).toThrow(Unreadable);
  await expect(load("AAAA")).rejects.toThrow("does not unpack");
  await expect(load(gzipSync("{").toString("base64"))).rejects.toThrow("no JSON");
  expect(() => checked({ schema: 2, runs: [] })).toThrow("form 2");
  expect(() => checked(null)).toThrow("no runs");
});

test("a run without anything in it is read", () => {
  const model = runModel({
    name: "", kind: "capture", length: 0, started: null, texts: [], diagnosis: null, threads: [], requests: null, waits: [], stacks: null, tables: [], host: [], left_out: [],
    timeline: { tiles: { buckets: 0, from: 0, width: 0, thread: [], bucket: [], state: [], ns: [] }, slices: { thread: [], start: [], took: [], state: [], call: [], object: [], error: [], site: [], line: [] }, wakes: { from: [], to: [], at: [] }, marks: [] },
  });
  expect(model.slices.count).toBe(0);
  expect(model.diagnosis.account).toBeNull();
});
