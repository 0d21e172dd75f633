// Builds the bundle that crates/page embeds: one classic script and one style sheet. The same sources and lock file give the same bytes.
//
// usage: node build.mjs [FOLDER]   (../crates/page/bundle)
import { build } from "esbuild";
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const out = resolve(process.argv[2] ?? join(here, "../crates/page/bundle"));
const LIMIT = 250_000; // bytes of both files: a page of 2 MB is mostly data

mkdirSync(out, { recursive: true });
await build({
  absWorkingDir: here,
  entryPoints: { page: "src/main.tsx" },
  outdir: out,
  bundle: true,
  minify: true,
  format: "iife",
  target: ["chrome103", "firefox113", "safari16.4"], // the first ones with DecompressionStream
  charset: "ascii",
  legalComments: "eof",
  jsx: "automatic",
  jsxImportSource: "preact",
  logLevel: "warning",
});

let bytes = 0;
for (const name of ["page.js", "page.css"]) {
  const file = join(out, name);
  const text = readFileSync(file, "utf8");
  if (/<\/(script|style)/i.test(text) || text.includes("<!--")) throw new Error(`${name} would end the element it stands in`);
  if (/\beval\(|new Function\(|\bimport\(/.test(text)) throw new Error(`${name} has what the page's policy forbids`);
  bytes += statSync(file).size;
}
if (bytes > LIMIT) throw new Error(`the bundle has ${bytes} bytes, of ${LIMIT} at most`);
console.log(`${out}: ${bytes} bytes`);
