/**
 * Names of agents. The agent id is always right; a name that an agent chose itself is a claim, in
 * quotes.
 */
import { agentInWords, quoted } from "../../../../proto/mod.ts";
import type { Speaker } from "./conversation.ts";

const maxName = 64;

export interface Naming {
  readonly name: string;
  /** How far the name can be believed. Empty for the reader's own agent. */
  readonly standing: string;
}

export function namingOf(
  { agentId, identity, knownAs, keyUnchanged, self = false }: Speaker,
): Naming {
  if (self) return { name: "You", standing: "" };
  if (knownAs !== undefined) {
    return { name: quoted(knownAs, { max: maxName }), standing: "your name for it" };
  }
  const name = identity === "" ? agentId : quoted(identity, { max: maxName });
  return { name, standing: keyUnchanged ? "unverified" : "unverified; its key has changed" };
}

/** In a line of text, as everywhere. */
export function inWords(agent: Speaker): string {
  return `${agent.agentId} (${agentInWords(agent)})`;
}
