/**
 * How a member came into its channel: the member that added it signed that, and so on back from member to member. These admissions travel
 * in Welcomes, so that an agent whose directory was put back knows those that came since. These are the bytes;
 * `sdk/mls/admissions.ts` judges them.
 */
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { type AgentId, parseAgentId } from "./ids.ts";
import { limits } from "./limits.ts";
import { MlsReader } from "./mls/reader.ts";
import { uint64, vector } from "./mls/writer.ts";

export interface Admission {
  /** Of the member that added the other, as its leaf has them: together they give its agent id. */
  readonly signatureKey: Uint8Array;
  readonly identity: Uint8Array;
  /** Of the same: the random name of its membership. An agent that leaves and joins again has another one. */
  readonly membership: Uint8Array;
  /** The one in which its commit was made. */
  readonly epoch: number;
  /** The agent that was added. */
  readonly agentId: AgentId;
  /** Over the admission's statement. */
  readonly signature: Uint8Array;
}

/** As the GroupInfo of a Welcome has them. */
export interface ShownAdmissions {
  /** By which the Welcome's maker came in, oldest first; of the oldest some may be missing. */
  readonly maker: readonly Admission[];
  /** One for each agent that its commit added. */
  readonly added: readonly Admission[];
}

export const membershipNameBytes = 16;
const format = 1;
const [agentIdBytes, keyBytes, signatureBytes] = [22, 32, 64] as const;

export function encodeShownAdmissions({ maker, added }: ShownAdmissions): Uint8Array {
  return concatBytes(vector(encodeAdmissions(maker)), vector(encodeAdmissions(added)));
}

/** Throws `WireError` for whatever `encodeShownAdmissions` would not have written, and for more than the limits. */
export function decodeShownAdmissions(bytes: Uint8Array): ShownAdmissions {
  const reader = new MlsReader(bytes, "admissions");
  const shown = {
    maker: readAdmissions(reader.nested(), limits.admissions),
    added: readAdmissions(reader.nested(), limits.membersPerChannel),
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
  return readAdmissions(new MlsReader(bytes, "admissions"), limits.admissions);
}

function encodeAdmission({ signatureKey, identity, membership, epoch, agentId, signature }: Admission): Uint8Array {
  const fields = [signatureKey, vector(identity), membership, uint64(epoch), utf8ToBytes(agentId), signature];
  return concatBytes(Uint8Array.of(format), ...fields);
}

function readAdmissions(reader: MlsReader, most: number): Admission[] {
  const admissions: Admission[] = [];
  while (!reader.done) {
    if (admissions.length === most) reader.refuse(`they are more than ${most}`);
    admissions.push(readAdmission(reader));
  }
  return admissions;
}

function readAdmission(reader: MlsReader): Admission {
  const found = reader.uint8();
  if (found !== format) reader.refuse(`the format of one is ${found}, this version knows ${format}`);
  return {
    signatureKey: reader.take(keyBytes),
    identity: reader.identity(limits.identityBytes),
    membership: reader.take(membershipNameBytes),
    epoch: reader.uint64(),
    agentId: parseAgentId(String.fromCharCode(...reader.take(agentIdBytes))),
    signature: reader.take(signatureBytes),
  };
}
