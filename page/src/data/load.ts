// Owns the way from the data element to a Page: base64, gzip, JSON, and what is said where that fails.
import { type Page, SCHEMA } from "../data";

/** A page that cannot be shown, in words for people. */
export class Unreadable extends Error {}

/** The bytes of base64; white space in it is skipped. */
export function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> {
  let raw: string;
  try {
    raw = atob(text.replace(/\s+/g, ""));
  } catch {
    throw new Unreadable("The data in this page is damaged: it is no base64.");
  }
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

async function unzip(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  if (typeof DecompressionStream === "undefined") {
    throw new Unreadable("This browser is too old to unpack the data: it lacks DecompressionStream. The report above is whole.");
  }
  try {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return await new Response(stream).text();
  } catch {
    throw new Unreadable("The data in this page is damaged: it does not unpack.");
  }
}

/** Checks what everything else relies on. */
export function checked(value: unknown): Page {
  const page = value as Page;
  if (typeof page !== "object" || page === null || !Array.isArray(page.runs)) {
    throw new Unreadable("The data in this page is damaged: it holds no runs.");
  }
  if (page.schema !== SCHEMA) {
    throw new Unreadable(`The data in this page is of form ${String(page.schema)}; its script reads form ${SCHEMA}.`);
  }
  return page;
}

/** Decodes what stands in the data element. */
export async function load(text: string): Promise<Page> {
  const json = await unzip(bytesOfBase64(text));
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new Unreadable("The data in this page is damaged: it is no JSON.");
  }
  return checked(value);
}
