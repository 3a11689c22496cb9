/**
 * How a member came into its channel: the member that added it signed that, and so on back from
 * member to member. These admissions travel in Welcomes, so that an agent whose directory was put
 * back knows those that came since. These are the bytes; `sdk/mls/admissions.ts` judges them.
 */
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { type AgentId, parseAgentId } from "../base/ids.ts";
import { limits } from "../base/limits.ts";
import { MlsReader } from "../mls/reader.ts";
import { uint64, vector } from "../mls/writer.ts";

/**
 * An agent that was added, and the signature of the member that added it over the admission's
 * statement.
 */
export interface SignedAdmission {
  readonly agentId: AgentId;
  readonly signature: Uint8Array;
}

export interface Admission extends SignedAdmission {
  /** Of the member that added the agent, as its leaf has them: together they give its agent id. */
  readonly signatureKey: Uint8Array;
  readonly identity: Uint8Array;
  /**
   * Of the same: the random name of its membership. An agent that leaves and joins again has
   * another one.
   */
  readonly membership: Uint8Array;
  /** The one in which its commit was made. */
  readonly epoch: number;
}

/** As the GroupInfo of a Welcome has them. */
export interface ShownAdmissions {
  /** By which the Welcome's maker came in, oldest first; of the oldest some may be missing. */
  readonly maker: readonly Admission[];
  /** The name of its membership. */
  readonly membership: Uint8Array;
  /** The agents that its commit added. */
  readonly added: readonly SignedAdmission[];
}

export const membershipNameBytes = 16;
const format = 1;
const [agentIdBytes, keyBytes, signatureBytes] = [22, 32, 64] as const;

export function encodeShownAdmissions({ maker, membership, added }: ShownAdmissions): Uint8Array {
  const admitted = concatBytes(...added.map(encodeAdmitted));
  return concatBytes(
    Uint8Array.of(format),
    vector(encodeAdmissions(maker)),
    membership,
    vector(admitted),
  );
}

/**
 * Throws `WireError` for whatever `encodeShownAdmissions` would not have written, and for more than
 * the limits.
 */
export function decodeShownAdmissions(bytes: Uint8Array): ShownAdmissions {
  const reader = new MlsReader(bytes, "admissions");
  readFormat(reader);
  const shown = {
    maker: readAll(reader.nested(), limits.admissions, readAdmission),
    membership: reader.take(membershipNameBytes),
    added: readAll(reader.nested(), limits.membersPerChannel, readAdmitted),
  };
  reader.end();
  return shown;
}

/** One after the other. */
export function encodeAdmissions(admissions: readonly Admission[]): Uint8Array {
  return concatBytes(...admissions.map(encodeAdmission));
}

/** Of one member. Throws `WireError`. */
export function decodeAdmissions(bytes: Uint8Array): Admission[] {
  return readAll(new MlsReader(bytes, "admissions"), limits.admissions, readAdmission);
}

function encodeAdmission(admission: Admission): Uint8Array {
  const { signatureKey, identity, membership, epoch } = admission;
  const signer = concatBytes(
    Uint8Array.of(format),
    signatureKey,
    vector(identity),
    membership,
    uint64(epoch),
  );
  return concatBytes(signer, encodeAdmitted(admission));
}

function encodeAdmitted({ agentId, signature }: SignedAdmission): Uint8Array {
  return concatBytes(utf8ToBytes(agentId), signature);
}

function readAll<T>(reader: MlsReader, most: number, read: (reader: MlsReader) => T): T[] {
  const all: T[] = [];
  while (!reader.done) {
    if (all.length === most) reader.refuse(`they are more than ${most}`);
    all.push(read(reader));
  }
  return all;
}

function readAdmission(reader: MlsReader): Admission {
  readFormat(reader);
  return {
    signatureKey: reader.take(keyBytes),
    identity: reader.identity(limits.identityBytes),
    membership: reader.take(membershipNameBytes),
    epoch: reader.uint64(),
    ...readAdmitted(reader),
  };
}

function readAdmitted(reader: MlsReader): SignedAdmission {
  const agentId = parseAgentId(String.fromCharCode(...reader.take(agentIdBytes)));
  return { agentId, signature: reader.take(signatureBytes) };
}

function readFormat(reader: MlsReader): void {
  const found = reader.uint8();
  if (found !== format) reader.refuse(`their format is ${found}, this version knows ${format}`);
}
