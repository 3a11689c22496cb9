/**
 * The part of an account's shares that one key may use: half of each. Its tokens may be in the hands of strangers (a
 * publishable key, a guest pass) or of one program among many, and none of them may use up the share of the others.
 * Tokens of plain keys and of the console name no key, and have the whole share.
 */
import type { KeyId } from "../../proto/mod.ts";
import type { Agent } from "./agent.ts";

const share = 0.5;

/** Undefined when its token names none. */
export function keyOf({ grant }: Pick<Agent, "grant">): KeyId | undefined {
  return grant?.key ?? undefined;
}

export function keyShareOf(ofAccount: number): number {
  return Math.max(1, Math.floor(share * ofAccount));
}
