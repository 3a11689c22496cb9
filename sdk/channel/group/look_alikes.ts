/**
 * Members whose names look alike: by another case, other blanks, or letters that are drawn the
 * same. Two keys of a name are compared, made of the skeletons of Unicode (UTS 39), once when a
 * member comes in; messages cost nothing. A name proves nothing anyhow, so this is a warning and
 * refuses nobody.
 */
import { type AgentId, quoted } from "../../../proto/mod.ts";
import { identityText } from "../../base/identity_text.ts";
import { confusables } from "../../gen/confusables.ts";
import type { EventAgent } from "../events.ts";
import type { HealthLog } from "../health.ts";
import type { Membership } from "./membership.ts";

/** Members that one is said to look like. */
const maxNamed = 8;

/**
 * Letters, and those that each looks like. Read when a first name is looked at: programs that open
 * no channel do without.
 */
const likenesses = ((): () => ReadonlyMap<string, string> => {
  let read: ReadonlyMap<string, string> | undefined;
  return () => read ??= new Map(confusables.split(";").flatMap(likenessesIn));
})();

function likenessesIn(record: string): (readonly [string, string])[] {
  const [like = [], steps = []] = record.split(":").map((part) =>
    part.split(".").map((code) => parseInt(code, 36))
  );
  let letter = 0;
  return steps.map((step) => [String.fromCodePoint(letter += step), String.fromCodePoint(...like)]);
}

const unseen = /[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}]/gu;

/**
 * Returns the letters of a name as they look, without blanks at its ends and with one between
 * words.
 */
function skeletonOf(name: string): string {
  const letters = name.normalize("NFKD").replace(unseen, "").replace(/\s+/g, " ").trim();
  return Array.from(letters, (letter) => likenesses().get(letter) ?? letter).join("").normalize(
    "NFKD",
  );
}

/**
 * Names that share a key look alike. A capital I looks like a small L and is a small i at the same
 * time: so there is a key by looks, and one by letters.
 */
export function likenessKeys(name: string): ReadonlySet<string> {
  return new Set([skeletonOf(name).toLowerCase(), skeletonOf(name.toLowerCase()).toLowerCase()]);
}

export interface LookAlikesParts {
  readonly membership: Pick<Membership, "group">;
  readonly health: Pick<HealthLog, "report" | "tell">;
}

export class LookAlikes {
  readonly #parts: LookAlikesParts;
  readonly #present = new Map<AgentId, EventAgent & { readonly keys: ReadonlySet<string> }>();
  readonly #byKey = new Map<string, Set<AgentId>>();

  constructor(parts: LookAlikesParts) {
    this.#parts = parts;
  }

  /** Call it when the channel is opened, and when members have come or gone. */
  look(): void {
    const members = new Map(
      this.#parts.membership.group.members().map(({ agentId, identity }) => [agentId, identity]),
    );
    for (const agentId of this.#present.keys()) if (!members.has(agentId)) this.#leave(agentId);
    for (const [agentId, identity] of members) {
      if (!this.#present.has(agentId)) this.#enter({ agentId, identity: identityText(identity) });
    }
  }

  /** The members that one looks like, at most eight of them. */
  of(agentId: AgentId): AgentId[] {
    const alike = new Set<AgentId>();
    for (const key of this.#present.get(agentId)?.keys ?? []) {
      for (const other of this.#byKey.get(key) ?? []) {
        if (alike.size >= maxNamed) break;
        if (other !== agentId) alike.add(other);
      }
    }
    return [...alike];
  }

  #enter(member: EventAgent): void {
    const keys = likenessKeys(member.identity);
    this.#present.set(member.agentId, { ...member, keys });
    for (const key of keys) {
      this.#byKey.set(key, (this.#byKey.get(key) ?? new Set()).add(member.agentId));
    }
    const [first] = this.of(member.agentId);
    const other = first && this.#present.get(first);
    if (other === undefined) return;
    const { agentId, identity } = other;
    const text =
      `${quoted(member.identity)} (${member.agentId}) looks like ${
        quoted(identity)
      } (${agentId}), and is ` +
      "another agent. Anybody may choose any name: tell them apart by their agent ids";
    this.#parts.health.report("look_alike", text);
    this.#parts.health.tell({ type: "look_alike", member, resembles: { agentId, identity } });
  }

  #leave(agentId: AgentId): void {
    for (const key of this.#present.get(agentId)?.keys ?? []) {
      const sharing = this.#byKey.get(key);
      sharing?.delete(agentId);
      if (sharing?.size === 0) this.#byKey.delete(key);
    }
    this.#present.delete(agentId);
  }
}
