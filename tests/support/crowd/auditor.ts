/**
 * Decides from the agents' journals alone whether the service kept its promises. It shares no code
 * with the service: texts, who said them, who heard them and in which order is all it knows.
 *
 * - A text that was accepted was heard by every resident (an agent that was a member all the time)
 *   except its sender, and by every guest that was a member from before it was sent until after it
 *   was accepted.
 * - What one resident heard all residents heard; a guest heard a piece of it without holes.
 * - Nobody heard a text twice, except the last ones before a crash, again after it.
 * - There is one order of all texts in which everybody heard them, and in which every sender said
 *   its own.
 * - Nobody heard what nobody sent, what was refused, or what was accepted before it came.
 * - At the same epoch everybody has the same state of the group.
 */
import type { Event, Journal, Life } from "./journal.ts";

export interface Audit {
  /** Empty when every promise was kept. */
  readonly violations: readonly string[];
  /**
   * Texts that the relay must have counted: somebody heard them, or their sender was told that they
   * are accepted.
   */
  readonly accepted: number;
  readonly heard: number;
  /** Heard once more after a crash. */
  readonly repeated: number;
  /** Sends that failed without an answer. */
  readonly undecided: number;
  readonly epochs: number;
}

/** Error codes with which the relay did not take the message. All others leave it open. */
const refusals: ReadonlySet<string> = new Set([
  "quota_exceeded",
  "not_found",
  "invalid_request",
  "auth_failed",
]);

interface Sent {
  readonly by: string;
  readonly atMs: number;
  id?: string;
  acceptedAtMs?: number;
  refused?: string;
}

export function audit(journals: readonly Journal[], residents: readonly string[]): Audit {
  const violations: string[] = [];
  const sent = collectSent(journals, violations);
  const heard = new Map(journals.map((journal) => [journal.agent, joinLives(journal, violations)]));
  for (const [agent, { texts }] of heard) checkOrigin(agent, texts, sent, violations);
  const order = orderOf(
    [...heard.values()].map(({ texts }) => [...texts.keys()]),
    sayings(journals),
    violations,
  );
  const known = new Set([...heard.values()].flatMap(({ texts }) => [...texts.keys()]));
  const accepted = new Set([
    ...known,
    ...[...sent].flatMap(([text, { id }]) => id === undefined ? [] : [text]),
  ]);
  for (const journal of journals) {
    const texts = heard.get(journal.agent)?.texts ?? new Map();
    const others = order.filter((text) => sent.get(text)?.by !== journal.agent);
    if (residents.includes(journal.agent)) {
      checkResident(journal.agent, texts, accepted, sent, violations);
    } else checkGuest(journal, { texts, others, accepted, sent }, violations);
  }
  return {
    violations,
    accepted: accepted.size,
    heard: [...heard.values()].reduce((sum, { texts }) => sum + texts.size, 0),
    repeated: [...heard.values()].reduce((sum, { repeated }) => sum + repeated, 0),
    undecided:
      [...sent.values()].filter(({ id, refused }) => id === undefined && refused === undefined)
        .length,
    epochs: checkEpochs(journals, violations),
  };
}

function collectSent(journals: readonly Journal[], violations: string[]): Map<string, Sent> {
  const sent = new Map<string, Sent>();
  for (const { agent, lives } of journals) {
    for (const event of lives.flat()) {
      if (event.event === "sending") {
        if (sent.has(event.text)) {
          violations.push(`"${event.text}" was sent twice: the run itself is wrong`);
        }
        sent.set(event.text, { by: agent, atMs: event.atMs });
      }
      const entry = "text" in event ? sent.get(event.text) : undefined;
      if (entry === undefined || entry.by !== agent) continue;
      if (event.event === "accepted") {
        Object.assign(entry, { id: event.id, acceptedAtMs: event.atMs });
      }
      if (event.event === "failed" && refusals.has(event.code)) entry.refused = event.code;
    }
  }
  return sent;
}

type Heard = Extract<Event, { readonly event: "heard" }>;

/**
 * Everything an agent heard, once and in order. A life may begin with the last texts of the one
 * before it that crashed.
 */
function joinLives(
  { agent, lives }: Journal,
  violations: string[],
): { texts: Map<string, Heard>; repeated: number } {
  const texts = new Map<string, Heard>();
  let repeated = 0;
  lives.forEach((life, index) => {
    const previous = lives[index - 1];
    const crashed = previous !== undefined && previous.at(-1)?.event !== "closed";
    const list = heardIn(life);
    const again = overlap(crashed ? [...texts.keys()] : [], list.map(({ text }) => text));
    repeated += again;
    for (const event of list.slice(again)) {
      if (texts.has(event.text)) violations.push(`${agent} heard "${event.text}" twice`);
      texts.set(event.text, event);
    }
  });
  return { texts, repeated };
}

function heardIn(life: Life): Heard[] {
  return life.filter((event) => event.event === "heard");
}

/** The longest end of `before` that `after` begins with. */
function overlap(before: readonly string[], after: readonly string[]): number {
  const first = after[0];
  const from = first === undefined ? -1 : before.lastIndexOf(first);
  if (from < 0) return 0;
  const end = before.slice(from);
  // The new life may have been short, too.
  return end.slice(0, after.length).every((text, index) => text === after[index])
    ? Math.min(end.length, after.length)
    : 0;
}

function checkOrigin(
  agent: string,
  texts: ReadonlyMap<string, Heard>,
  sent: ReadonlyMap<string, Sent>,
  violations: string[],
): void {
  for (const [text, { from, id }] of texts) {
    const origin = sent.get(text);
    if (origin === undefined) violations.push(`${agent} heard "${text}", which nobody sent`);
    else if (origin.by !== from) {
      violations.push(`${agent} heard "${text}" as ${from}'s; it was ${origin.by}'s`);
    } else if (origin.refused !== undefined) {
      violations.push(`${agent} heard "${text}", which was refused`);
    } else if (origin.id !== undefined && origin.id !== id) {
      violations.push(`${agent} heard "${text}" under another id`);
    }
    if (from === agent) violations.push(`${agent} heard itself: "${text}"`);
  }
}

/** Messages of each agent that were accepted, in the order in which it sent them. */
function sayings(journals: readonly Journal[]): string[][] {
  return journals.map(({ lives }) =>
    lives.flat().flatMap((event) => event.event === "accepted" ? [event.text] : [])
  );
}

/**
 * One order that all these lists agree with (Kahn's algorithm); what is left over is where they
 * disagree.
 */
function orderOf(
  heard: readonly string[][],
  said: readonly string[][],
  violations: string[],
): string[] {
  const after = new Map<string, Set<string>>();
  const waitsFor = new Map<string, number>();
  const known = new Set(heard.flat());
  for (const list of [...heard, ...said.map((texts) => texts.filter((text) => known.has(text)))]) {
    list.forEach((text, index) => {
      const next = list[index + 1];
      const followers = after.get(text) ?? new Set();
      after.set(text, followers);
      waitsFor.set(text, waitsFor.get(text) ?? 0);
      if (next === undefined || followers.has(next)) return;
      followers.add(next);
      waitsFor.set(next, (waitsFor.get(next) ?? 0) + 1);
    });
  }
  const order: string[] = [];
  const ready = [...waitsFor].flatMap(([text, count]) => count === 0 ? [text] : []);
  for (let text = ready.shift(); text !== undefined; text = ready.shift()) {
    order.push(text);
    for (const next of after.get(text) ?? []) {
      const left = (waitsFor.get(next) ?? 0) - 1;
      waitsFor.set(next, left);
      if (left === 0) ready.push(next);
    }
  }
  const rest = waitsFor.size - order.length;
  if (rest > 0) {
    const some = [...waitsFor].filter(([, count]) => count > 0).slice(0, 6).map(([text]) =>
      `"${text}"`
    );
    violations.push(`There is no one order of ${rest} texts, among them ${some.join(", ")}`);
  }
  return order;
}

function checkResident(
  agent: string,
  texts: ReadonlyMap<string, Heard>,
  accepted: ReadonlySet<string>,
  sent: ReadonlyMap<string, Sent>,
  violations: string[],
): void {
  const missing = [...accepted].filter((text) => !texts.has(text) && sent.get(text)?.by !== agent);
  if (missing.length > 0) {
    violations.push(
      `${agent} never heard ${missing.length} texts, first "${missing[0]}", last "${
        missing.at(-1)
      }"`,
    );
  }
}

interface GuestView {
  readonly texts: ReadonlyMap<string, Heard>;
  /** Messages of the others, in the one order. */
  readonly others: readonly string[];
  readonly accepted: ReadonlySet<string>;
  readonly sent: ReadonlyMap<string, Sent>;
}

function checkGuest(
  { agent, lives }: Journal,
  { texts, others, accepted, sent }: GuestView,
  violations: string[],
): void {
  const events = lives.flat();
  const at = (name: "joining" | "joined" | "leaving"): number | undefined =>
    events.flatMap((event) => event.event === name ? [event.atMs] : [])[0];
  const [joiningMs, joinedMs, leavingMs] = [
    at("joining") ?? Infinity,
    at("joined") ?? Infinity,
    at("leaving") ?? Infinity,
  ];
  for (const text of texts.keys()) {
    const { acceptedAtMs = Infinity } = sent.get(text) ?? {};
    if (acceptedAtMs < joiningMs) {
      violations.push(`${agent} heard "${text}", which was accepted before it came`);
    }
  }
  const places = [...texts.keys()].map((text) => others.indexOf(text));
  const holes = (places.at(-1) ?? 0) - (places[0] ?? 0) + 1 - places.length;
  if (places.length > 0 && holes !== 0) {
    violations.push(`${agent} missed ${holes} texts between two that it heard`);
  }
  for (const text of accepted) {
    const { by, atMs, acceptedAtMs } = sent.get(text) ??
      { by: agent, atMs: 0, acceptedAtMs: undefined };
    if (by === agent || acceptedAtMs === undefined || texts.has(text)) continue;
    if (atMs > joinedMs && acceptedAtMs < leavingMs) {
      violations.push(`${agent} was a member and never heard "${text}"`);
    }
  }
}

function checkEpochs(journals: readonly Journal[], violations: string[]): number {
  const states = new Map<number, { readonly fingerprint: string; readonly agent: string }>();
  for (const { agent, lives } of journals) {
    for (const event of lives.flat()) {
      if (event.event !== "epoch") continue;
      const known = states.get(event.epoch);
      if (known === undefined) states.set(event.epoch, { fingerprint: event.fingerprint, agent });
      else if (known.fingerprint !== event.fingerprint) {
        violations.push(
          `${agent} and ${known.agent} have different states at epoch ${event.epoch}`,
        );
      }
    }
  }
  return states.size;
}
