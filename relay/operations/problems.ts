/**
 * A relay's problems in words, for `/health` and `/ready`: the shared log, the disk or the API does
 * not answer, or the disk has no room. They name no address, because anybody may ask.
 */
import { every, type Log, waits } from "../../server/mod.ts";
import type { StorageLevel } from "../core/limits/storage_watch.ts";
import type { Problem } from "../grpc/listener.ts";

export interface ProblemSources {
  /** Words for what is wrong with the log that relays share. */
  readonly sharedLog: string | undefined;
  /** The same for what relays share in memory. */
  readonly sharedMemory: string | undefined;
  /** How long the disk has left a write unconfirmed. */
  readonly diskMs: number;
  readonly storage: StorageLevel;
  /** Another relay of the same log has room. */
  readonly hasRoomElsewhere: boolean;
  /** How long the API has not answered; since the start if it never has. */
  readonly apiMs: number;
  readonly hasApiAnswered: boolean;
  /** How far the relay's clock is ahead of the API's; undefined: nobody knows. */
  readonly aheadMs: number | undefined;
}

/** A third of what leases bear. `StaticClocksDiffer` begins here too. */
const clockToleranceMs = 10_000;

export function problemsOf(sources: ProblemSources): readonly Problem[] {
  const { sharedLog, sharedMemory, diskMs, storage, hasRoomElsewhere } = sources;
  const { apiMs, hasApiAnswered, aheadMs = 0 } = sources;
  const problems: Problem[] = [];
  if (sharedLog !== undefined) {
    problems.push({ what: "shared_log", text: sharedLog, isUnready: true });
  }
  if (sharedMemory !== undefined) {
    problems.push({ what: "shared_memory", text: sharedMemory, isUnready: true });
  }
  if (diskMs >= waits.diskConfirmation.ms) {
    const text = `The disk has not confirmed a write for ${seconds(diskMs)}. Look at the disk`;
    problems.push({ what: "disk", text, isUnready: true });
  }
  if (storage !== "ok") {
    const refused = storage === "full"
      ? "messages are refused"
      : "new channels, members and invites are refused";
    const where = hasRoomElsewhere ? " here, and their agents sent to relays that have room" : "";
    const text = `The disk is nearly full: ${refused}${where}. Make room on the disk`;
    problems.push({ what: "room", text, isUnready: hasRoomElsewhere });
  }
  if (!hasApiAnswered) {
    const text =
      "The API has not answered this relay since it started. Check that it runs, and the relay's log";
    problems.push({ what: "api", text, isUnready: true });
  } else if (apiMs >= waits.apiReady.ms) {
    const text = `The API has not answered for ${
      seconds(apiMs)
    }. Known tokens and leased messages are used up first`;
    problems.push({ what: "api", text, isUnready: false });
  }
  problems.push(...clockProblems(aheadMs));
  return problems;
}

function clockProblems(aheadMs: number): readonly Problem[] {
  if (Math.abs(aheadMs) < clockToleranceMs) return [];
  const [side, end] = aheadMs > 0 ? ["ahead of", "early"] : ["behind", "late"];
  const difference = seconds(Math.abs(aheadMs));
  const text =
    `This relay's clock is ${difference} ${side} the API's: leases and tokens end too ${end}. Set both clocks`;
  return [{ what: "clock", text, isUnready: false }];
}

function seconds(ms: number): string {
  return `${Math.floor(ms / 1_000)} s`;
}

const lookMs = 1_000;

/**
 * Writes each problem to the log when it begins and when it is over. Returns a function to stop.
 */
export function logProblems(problems: () => readonly Problem[], log: Log): () => void {
  let known = new Set<string>();
  return every(lookMs, () => {
    const now = problems();
    for (const { what, text } of now) if (!known.has(what)) log("warn", "problem", { what, text });
    const left = new Set(now.map(({ what }) => what));
    for (const what of known) if (!left.has(what)) log("info", "problem_over", { what });
    known = left;
    return Promise.resolve();
  });
}
