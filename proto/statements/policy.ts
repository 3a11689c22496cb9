/**
 * A channel's policy: what members may do that own nothing. These are the bytes, as the
 * GroupContext, a change of the owners and the statement about it have them;
 * `sdk/mls/policy_rules.ts` enforces what they say.
 */
import { MlsReader } from "../mls/reader.ts";

/** All members, or owners alone. */
export type PolicyScope = "members" | "owners";

/** Rules of a channel: the members that may admit and the members that may post. */
export interface ChannelPolicy {
  /** Members that may admit and invite agents. */
  readonly admission: PolicyScope;
  /** Members whose messages are shown; the others only read. */
  readonly posting: PolicyScope;
}

/** In force where a channel says nothing else. */
export const openPolicy: ChannelPolicy = { admission: "members", posting: "members" };

const format = 1;
export const policyBytes = 3;
const scopes: readonly PolicyScope[] = ["members", "owners"];

export function encodePolicy({ admission, posting }: ChannelPolicy): Uint8Array {
  return Uint8Array.of(format, scopes.indexOf(admission), scopes.indexOf(posting));
}

/** Throws `WireError` for whatever `encodePolicy` would not have written. */
export function decodePolicy(bytes: Uint8Array): ChannelPolicy {
  const reader = new MlsReader(bytes, "policy of a channel");
  const found = reader.uint8();
  if (found !== format) reader.refuse(`its format is ${found}, this version knows ${format}`);
  const policy = { admission: readScope(reader), posting: readScope(reader) };
  reader.end();
  return policy;
}

/** Of two policies, or of none. */
export function samePolicy(a: ChannelPolicy | undefined, b: ChannelPolicy | undefined): boolean {
  return a?.admission === b?.admission && a?.posting === b?.posting;
}

function readScope(reader: MlsReader): PolicyScope {
  const code = reader.uint8();
  return scopes[code] ?? reader.refuse(`${code} stands for nobody`);
}
