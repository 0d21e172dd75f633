import type { Page, Run } from "../src/data";

export const HOSTILE: string[];
export const DIFF: unknown;
export function run(options?: { name?: string; calls?: number; threads?: number; seed?: number; length?: number; hostile?: boolean; slow?: number; kind?: string }): Run;
export function pageOf(runs: Run[], diff?: unknown): Page;
export function html(page: Page, bundle: string): string;
