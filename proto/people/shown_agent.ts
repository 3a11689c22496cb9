/**
 * An agent as people and models are told of it. A name that the reader gave it is the reader's own
 * word; a badge is the word of an issuer that the reader believes; a name that the agent chose
 * itself is a claim, in quotes, and never an address.
 */
import { quoted, shown } from "../base/shown_text.ts";
import type { Attested } from "./attestation.ts";

/** An agent as far as it is told in words: a member, or the sender of a message. */
export interface SeenAgent {
  /** The name that it chose for itself; empty when it is not known. */
  readonly identity: string;
  /** The reader's own name for it. */
  readonly knownAs: string | undefined;
  /** Whether it is the same agent as before under this identity. */
  readonly keyUnchanged: boolean;
  /** The word of an issuer that the reader believes. */
  readonly attested?: Attested | undefined;
  /** The same, when the badge is over. */
  readonly badgeExpired?: Attested | undefined;
  /** It belongs to the account of the reader's own agent. */
  readonly sameAccount?: boolean;
  /** The reader's own agent. */
  readonly self?: boolean;
}

const maxClaim = 64;

/**
 * Returns an agent in words for people, to stand beside its agent id: the user's own name for it,
 * the word of an issuer, or its claim in quotes.
 */
export function agentInWords(agent: SeenAgent): string {
  const { identity, knownAs, keyUnchanged, attested, badgeExpired, sameAccount, self } = agent;
  const claim = quoted(identity, { max: maxClaim });
  const calls = identity === "" ? "" : `; calls itself ${claim}`;
  if (self === true) return `you; you call yourself ${claim}`;
  if (knownAs !== undefined) return `${quoted(knownAs)} (your name for it)`;
  if (attested !== undefined) return attestedInWords(attested);
  if (sameAccount === true) return `of your account${calls}`;
  const changed = keyUnchanged ? "" : "; its key has changed";
  const expired = badgeExpired === undefined ? undefined : `; ${expiredInWords(badgeExpired)}`;
  return `unverified${changed}${expired ?? calls}`;
}

/** In fields for models, to stand beside the agent id. */
export function agentForModel(
  agent: SeenAgent,
  { hideNames = false }: { readonly hideNames?: boolean } = {},
): object {
  const { identity, knownAs, keyUnchanged, attested, badgeExpired, self = false } = agent;
  const isOther = !keyUnchanged && { another_agent_had_this_name: true };
  const calls = !hideNames && identity !== "" && {
    calls_itself: shown(identity, { max: maxClaim }),
  };
  if (self) return { who: "this agent", ...calls, ...isOther };
  const attestedBy = { attested_by: attested?.how === "domain" ? attested.domain : null };
  if (knownAs !== undefined) {
    return { who: `${knownAs}, named by your user`, ...attestedBy, ...isOther };
  }
  if (attested !== undefined) return { who: attestedInWords(attested), ...attestedBy, ...isOther };
  if (agent.sameAccount === true) {
    return { who: "agent of your user's account", ...attestedBy, ...calls, ...isOther };
  }
  const why = badgeExpired !== undefined && { why_unverified: expiredInWords(badgeExpired) };
  return { who: "UNVERIFIED agent", ...attestedBy, ...why, ...calls, ...isOther };
}

/** Name and domain have letters that cannot be taken for others, and need no quotes. */
function attestedInWords({ domain, name, how }: Attested): string {
  return how === "domain" ? `${name}, attested by ${domain}` : `mailbox at ${domain}`;
}

/** With a date, which is right whenever it is read. */
function expiredInWords({ domain, untilMs, how }: Attested): string {
  const day = new Date(untilMs).toISOString().slice(0, 10);
  return `${how === "domain" ? "badge" : "mailbox badge"} of ${domain} expired on ${day}`;
}

/**
 * Returns the text of an error. One that another agent answered with has the words of that agent,
 * in quotes that they cannot end.
 */
export function failureInWords(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (Reflect.get(error, "code") !== "remote_error") return error.message;
  return `The agent that was asked answered with an error, in its own words: "${
    error.message.replaceAll('"', "\\u{22}")
  }"`;
}

/** The owners of a channel, which stand beside its name: anyone can choose that. */
export function ownersInWords(
  members: readonly (SeenAgent & { readonly owner: boolean })[],
): string {
  const counts = new Map<string, number>();
  for (const owner of members.filter((member) => member.owner)) {
    const kind = ownerInWords(owner);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  const others = counts.get(unverified) ?? 0;
  counts.delete(unverified);
  const known = Array.from(counts, ([kind, count]) => isOne(kind) ? kind : `${kind} (${count})`);
  return [...known, ...(others > 0 ? [`${unverified} (${others})`] : [])].join(", ");
}

const unverified = "unverified";

/** The user's own agent, or one that the user has named. */
function isOne(kind: string): boolean {
  return kind === "you" || kind.startsWith('"');
}

function ownerInWords({ knownAs, attested, sameAccount, self }: SeenAgent): string {
  if (self === true) return "you";
  if (knownAs !== undefined) return quoted(knownAs);
  if (attested !== undefined) {
    return attested.how === "domain" ? attested.domain : attestedInWords(attested);
  }
  return sameAccount === true ? "your account" : unverified;
}
