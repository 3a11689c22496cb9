/**
 * A channel's owners and its policy, in versions. Each version comes from the one before by a
 * change, which an owner of that one signed; so a member that was away follows the changes and
 * believes nobody. These are the bytes; `sdk/mls/owners_chain.ts` judges them.
 */
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { type AgentId, parseAgentId } from "../base/ids.ts";
import { limits } from "../base/limits.ts";
import { MlsReader } from "../mls/reader.ts";
import { uint64, vector } from "../mls/writer.ts";
import { type ChannelPolicy, decodePolicy, encodePolicy, policyBytes } from "./policy.ts";
import type { FoundedGeneration } from "./statements.ts";

/** As the GroupContext has it. */
export interface OwnersVersion {
  /** 1 for the first. */
  readonly version: number;
  /** SHA-256 of the change that made it. */
  readonly lastChange: Uint8Array;
  /** Ascending, each once. */
  readonly owners: readonly AgentId[];
}

interface ChangeFields {
  /** The one that it makes. */
  readonly version: number;
  /** SHA-256 of the change before; zeros for version 1. */
  readonly previous: Uint8Array;
  /** Those of the new version. */
  readonly owners: readonly AgentId[];
  /** Of its signer, as its leaf has them: together they give its agent id. */
  readonly signatureKey: Uint8Array;
  readonly identity: Uint8Array;
  readonly signature: Uint8Array;
}

export type OwnersChange =
  /** An owner of the version before signed the owners statement. */
  | ChangeFields & { readonly kind: "signed" }
  /**
   * An owner of the version before signed that it leaves; `leafHash` is of the leaf that its
   * statement is about.
   */
  | ChangeFields & { readonly kind: "left"; readonly leafHash: Uint8Array }
  /**
   * An owner of the version before signed the owners statement when it founded a new generation;
   * `policy` and `issuers` are those of the one before, if it had any.
   */
  | ChangeFields & {
    readonly kind: "founded";
    readonly founded: FoundedGeneration;
    readonly policy?: ChannelPolicy;
    /** SHA-256 of the channel's issuers, as `encodeIssuers` writes them. */
    readonly issuers?: Uint8Array;
  }
  /** An owner of the version before signed the policy statement. */
  | ChangeFields & { readonly kind: "policy"; readonly policy: ChannelPolicy }
  /** An owner of the version before signed the issuers statement. */
  | ChangeFields & { readonly kind: "issuers"; readonly issuers: Uint8Array };

const format = 1;
const kinds = { signed: 1, left: 2, founded: 3, policy: 4, issuers: 5 } as const;
const foundedBytes = 40;
const [agentIdBytes, hashBytes, keyBytes, signatureBytes] = [22, 32, 32, 64] as const;
/** With a policy, with issuers, with both. */
const foundedLengths: readonly number[] = [0, policyBytes, hashBytes, policyBytes + hashBytes]
  .map((bytes) => foundedBytes + bytes);
const nothing = new Uint8Array(0);

export function encodeOwnersVersion({ version, lastChange, owners }: OwnersVersion): Uint8Array {
  return concatBytes(Uint8Array.of(format), uint64(version), lastChange, encodeOwners(owners));
}

/** Throws `WireError` for whatever `encodeOwnersVersion` would not have written. */
export function decodeOwnersVersion(bytes: Uint8Array): OwnersVersion {
  const reader = new MlsReader(bytes, "owners of a channel");
  readFormat(reader);
  const decoded = {
    version: readVersion(reader),
    lastChange: reader.take(hashBytes),
    owners: readOwners(reader),
  };
  reader.end();
  return decoded;
}

export function encodeOwnersChange(change: OwnersChange): Uint8Array {
  return concatBytes(
    Uint8Array.of(format, kinds[change.kind]),
    uint64(change.version),
    change.previous,
    encodeOwners(change.owners),
    change.signatureKey,
    vector(change.identity),
    vector(detailOf(change)),
    change.signature,
  );
}

function detailOf(change: OwnersChange): Uint8Array {
  switch (change.kind) {
    case "signed":
      return nothing;
    case "left":
      return change.leafHash;
    case "founded":
      return concatBytes(
        uint64(change.founded.generation),
        change.founded.founding,
        change.policy === undefined ? nothing : encodePolicy(change.policy),
        change.issuers ?? nothing,
      );
    case "policy":
      return encodePolicy(change.policy);
    case "issuers":
      return change.issuers;
  }
}

/** One after the other, as a commit and a Welcome carry them; each says how long it is. */
export function encodeOwnersChanges(changes: readonly OwnersChange[]): Uint8Array {
  return concatBytes(...changes.map(encodeOwnersChange));
}

/**
 * Throws `WireError` for whatever `encodeOwnersChanges` would not have written, and for more than
 * the limit.
 */
export function decodeOwnersChanges(bytes: Uint8Array): OwnersChange[] {
  const reader = new MlsReader(bytes, "changes of a channel's owners");
  const changes: OwnersChange[] = [];
  while (!reader.done) {
    if (changes.length === limits.ownersChanges) {
      reader.refuse(`they are more than ${limits.ownersChanges}`);
    }
    changes.push(readChange(reader));
  }
  return changes;
}

function readChange(reader: MlsReader): OwnersChange {
  readFormat(reader);
  const kind = reader.uint8();
  const fields = {
    version: readVersion(reader),
    previous: reader.take(hashBytes),
    owners: readOwners(reader),
    signatureKey: reader.take(keyBytes),
    identity: reader.identity(limits.identityBytes),
  };
  const detail = reader.vector();
  const signature = reader.take(signatureBytes);
  if (kind === kinds.signed && detail.length === 0) return { kind: "signed", ...fields, signature };
  if (kind === kinds.left && detail.length === hashBytes) {
    return { kind: "left", ...fields, leafHash: detail, signature };
  }
  if (kind === kinds.founded && foundedLengths.includes(detail.length)) {
    return { kind: "founded", ...fields, ...readFounded(detail), signature };
  }
  if (kind === kinds.issuers && detail.length === hashBytes) {
    return { kind: "issuers", ...fields, issuers: detail, signature };
  }
  if (kind === kinds.policy && detail.length === policyBytes) {
    return { kind: "policy", ...fields, policy: decodePolicy(detail), signature };
  }
  return reader.refuse(`one of kind ${kind} has ${detail.length} bytes behind its identity`);
}

/** How long it is says what the generation takes along. */
function readFounded(
  detail: Uint8Array,
): Omit<Extract<OwnersChange, { kind: "founded" }>, keyof ChangeFields | "kind"> {
  const parts = new MlsReader(detail, "founding of a generation");
  const founded = { generation: readVersion(parts), founding: parts.take(hashBytes) };
  const [hasPolicy, hasIssuers] = [policyBytes, hashBytes].map((bytes) =>
    [bytes, policyBytes + hashBytes].includes(detail.length - foundedBytes)
  );
  return {
    founded,
    ...(hasPolicy && { policy: decodePolicy(parts.take(policyBytes)) }),
    ...(hasIssuers && { issuers: parts.take(hashBytes) }),
  };
}

function readFormat(reader: MlsReader): void {
  const found = reader.uint8();
  if (found !== format) reader.refuse(`its format is ${found}, this version knows ${format}`);
}

function readVersion(reader: MlsReader): number {
  const version = reader.uint64();
  return version > 0 ? version : reader.refuse("a version is 0");
}

function encodeOwners(owners: readonly AgentId[]): Uint8Array {
  return vector(utf8ToBytes(owners.join("")));
}

function readOwners(reader: MlsReader): AgentId[] {
  const list = reader.nested();
  const owners: AgentId[] = [];
  while (!list.done) {
    const owner = parseAgentId(String.fromCharCode(...list.take(agentIdBytes)));
    const before = owners.at(-1);
    if (before !== undefined && before >= owner) {
      reader.refuse("owners are not in ascending order, each once");
    }
    if (owners.length === limits.ownersPerChannel) {
      reader.refuse(`there are more than ${limits.ownersPerChannel} owners`);
    }
    owners.push(owner);
  }
  return owners;
}
