/** The words of a relay about itself, as they go over the nodes. */
import { decodeCbor, encodeCbor } from "../../proto/mod.ts";
import type { RelayLoad } from "../core/relay_load.ts";

/** More than any relay has. */
const maxSessions = 10_000_000;

export function encodeLoad(relay: string, load: RelayLoad): Uint8Array {
  const { sessions, hasRoom, capacity, isSteady, isSending } = load;
  return encodeCbor([relay, sessions, hasRoom, capacity, isSteady, isSending]);
}

/** Undefined for anything else: a relay that says it counts as one that says nothing. */
export function decodeLoad(
  bytes: Uint8Array,
): { readonly relay: string; readonly load: RelayLoad } | undefined {
  const [relay, sessions, hasRoom, capacity, isSteady, isSending, ...rest] = listOf(bytes);
  if (typeof relay !== "string" || rest.length > 0) return undefined;
  if (typeof hasRoom !== "boolean") return undefined;
  if (typeof isSteady !== "boolean" || typeof isSending !== "boolean") return undefined;
  if (!isCount(sessions) || !isCount(capacity)) return undefined;
  return { relay, load: { sessions, hasRoom, capacity, isSteady, isSending } };
}

function listOf(bytes: Uint8Array): readonly unknown[] {
  try {
    const value = decodeCbor(bytes);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 &&
    value <= maxSessions;
}
