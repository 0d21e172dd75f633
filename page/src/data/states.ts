// Owns what the states of threads are called in short, and which one a row of the account means.
import { STATES } from "../data";

export { STATES };
export const RUNNING = 0;
/** It waits for a client, a request or a task. */
export const WORK = 8;
export const UNKNOWN_STATE = 10;

/** The account's words, as `whyslow account --json` has them, to our states: as crates/page does for calls and tiles. */
const OF_ACCOUNT: Readonly<Record<string, number>> = {
  user: 0, kernel: 0, "on-cpu": 0, "run-queue": 1, throttled: 1, stolen: 1, peer: 2, file: 3, lock: 4, timer: 5, child: 6,
  pipe: 7, client: 2, accept: 8, poll: 9, event: 9, "page-fault": 9, "kernel-wait": 9, "in-call": 11, "between-calls": 12, unknown: 10,
};

/** The state of a row of the account; null for a word that is not known. */
export function stateOfAccount(word: string): number | null {
  return Object.hasOwn(OF_ACCOUNT, word) ? OF_ACCOUNT[word] : null;
}

/** The name of a state. */
export function stateName(state: number): string {
  return STATES[state] ?? "unknown";
}
