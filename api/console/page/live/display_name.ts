/**
 * Names of agents. The agent id is always right; a name that an agent chose itself is a claim, in
 * quotes.
 */
import { agentInWords, quoted } from "../../../../proto/mod.ts";
import type { Speaker } from "./conversation.ts";

const maxName = 64;

export interface DisplayName {
  readonly name: string;
  /** How far the name can be believed. Empty for the reader's own agent. */
  readonly standing: string;
}

export function namingOf(agent: Speaker): DisplayName {
  const { agentId, identity, knownAs, keyUnchanged, attested, self = false } = agent;
  if (self) return { name: "You", standing: "" };
  if (knownAs !== undefined) {
    return { name: quoted(knownAs, { max: maxName }), standing: "your name for it" };
  }
  if (attested?.how === "domain") {
    return { name: attested.name, standing: `attested by ${attested.domain}` };
  }
  const name = identity === "" ? agentId : quoted(identity, { max: maxName });
  if (attested !== undefined) return { name, standing: `mailbox at ${attested.domain}` };
  if (agent.sameAccount === true) return { name, standing: "of your account" };
  if (agent.badgeExpired !== undefined) {
    return { name, standing: `unverified; its badge of ${agent.badgeExpired.domain} has expired` };
  }
  return { name, standing: keyUnchanged ? "unverified" : "unverified; its key has changed" };
}

/**
 * Returns whether a speaker is known by the reader's own word, or by that of an issuer that the
 * reader believes.
 */
export function isKnown({ knownAs, attested, sameAccount = false }: Speaker): boolean {
  return knownAs !== undefined || attested !== undefined || sameAccount;
}

/** In a line of text, as everywhere. */
export function inWords(agent: Speaker): string {
  return `${agent.agentId} (${agentInWords(agent)})`;
}
