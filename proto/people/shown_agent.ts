/**
 * An agent as people and models are told of it. A name that the reader gave it is the reader's own
 * word; a name that the agent chose itself is a claim, in quotes, and never an address.
 */
import { quoted, shown } from "../base/shown_text.ts";

/** An agent as far as it is told in words: a member, or the sender of a message. */
export interface SeenAgent {
  /** The name that it chose for itself; empty when it is not known. */
  readonly identity: string;
  /** The reader's own name for it. */
  readonly knownAs: string | undefined;
  /** Whether it is the same agent as before under this identity. */
  readonly keyUnchanged: boolean;
  /** The reader's own agent. */
  readonly self?: boolean;
}

const maxClaim = 64;

/**
 * Returns an agent in words for people, to stand beside its agent id: the user's own name for it,
 * or its claim in quotes.
 */
export function agentInWords({ identity, knownAs, keyUnchanged, self = false }: SeenAgent): string {
  const claim = quoted(identity, { max: maxClaim });
  if (self) return `you; you call yourself ${claim}`;
  if (knownAs !== undefined) return `${quoted(knownAs)} (your name for it)`;
  return `unverified${keyUnchanged ? "" : "; its key has changed"}${
    identity === "" ? "" : `; calls itself ${claim}`
  }`;
}

/** In fields for models, to stand beside the agent id. */
export function agentForModel(
  agent: SeenAgent,
  { hideNames = false }: { readonly hideNames?: boolean } = {},
): object {
  const { identity, knownAs, keyUnchanged, self = false } = agent;
  const isOther = !keyUnchanged && { another_agent_had_this_name: true };
  if (knownAs !== undefined) return { who: `${knownAs}, named by your user`, ...isOther };
  const isHidden = hideNames || identity === "";
  return {
    who: self ? "this agent" : "UNVERIFIED agent",
    ...(!isHidden && { calls_itself: shown(identity, { max: maxClaim }) }),
    ...isOther,
  };
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
  const owners = members.filter(({ owner }) => owner);
  const known = owners.flatMap(({ knownAs, self }) =>
    self === true ? ["you"] : knownAs === undefined ? [] : [quoted(knownAs)]
  );
  const others = owners.length - known.length;
  return [...known, ...(others > 0 ? [`unverified (${others})`] : [])].join(", ");
}
