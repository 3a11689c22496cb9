/**
 * Members as people, programs and models address them: by agent id, by the reader's own name for
 * one, or as NAME@DOMAIN of an agent that this domain attests. A name that an agent chose itself is
 * no address: the first to enter under it would get the messages that are meant for another.
 */
import type { SeenAgent } from "./shown_agent.ts";

export type AddressableMember = Pick<SeenAgent, "identity" | "knownAs" | "attested"> & {
  readonly agentId: string;
};

export type AddresseeMatch<T> =
  | { readonly kind: "found"; readonly member: T }
  /** A domain gave several agents one name: only their ids tell them apart. */
  | { readonly kind: "several"; readonly members: readonly T[] }
  /** Nobody; these call themselves so, which proves nothing. */
  | { readonly kind: "nobody"; readonly claiming: readonly T[] };

/** An agent id always wins, then the reader's own name. */
export function findAddressee<T extends AddressableMember>(
  named: string,
  members: readonly T[],
): AddresseeMatch<T> {
  const own = members.find(({ agentId }) => agentId === named) ??
    members.find(({ knownAs }) => knownAs === named);
  if (own !== undefined) return { kind: "found", member: own };
  const attested = members.filter((member) => addressOf(member) === named);
  const [first] = attested;
  if (attested.length > 1) return { kind: "several", members: attested };
  if (first !== undefined) return { kind: "found", member: first };
  return { kind: "nobody", claiming: members.filter(({ identity }) => identity === named) };
}

/** A mailbox is of an account, and no name of an agent. */
function addressOf({ attested }: AddressableMember): string | undefined {
  return attested?.how === "domain" ? `${attested.name}@${attested.domain}` : undefined;
}
