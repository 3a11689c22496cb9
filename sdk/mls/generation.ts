/**
 * The data that a generation above 0 binds into its group: its channel, its founding, and the
 * members without a leaf so far. Their list is in the GroupContext itself, so that every joiner
 * knows it; it is short, and soon empty.
 */
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import {
  type AgentId,
  binaryIdBytes,
  binaryIdFromBytes,
  binaryIdToBytes,
  type ChannelId,
  limits,
  MlsReader,
  parseAgentId,
} from "../../proto/mod.ts";
import { sha256 } from "../../wasm/mod.ts";
import { vector } from "./codec.ts";

/** A member that the group has no leaf of. */
export interface AbsentMember {
  readonly agentId: AgentId;
  /**
   * The hash of the name that the member gives itself, so that nobody else takes that name
   * meanwhile; see `identityHashOf`.
   */
  readonly identityHash: Uint8Array;
}

export interface GenerationBinding {
  readonly channelId: ChannelId;
  readonly generation: number;
  /** SHA-256 of the founding statement. */
  readonly founding: Uint8Array;
  /** The members of the founding that have no leaf in the group, ascending by agent id. */
  readonly absent: readonly AbsentMember[];
}

const format = 1;
const [agentIdBytes, hashBytes, identityHashBytes] = [22, 32, 16] as const;

/** The first half of the SHA-256 of an identity. */
export function identityHashOf(identity: Uint8Array): Uint8Array {
  return sha256(identity).subarray(0, identityHashBytes);
}

export function encodeGeneration(
  { channelId, generation, founding, absent }: GenerationBinding,
): Uint8Array {
  const number = new Uint8Array(8);
  new DataView(number.buffer).setBigUint64(0, BigInt(generation));
  const list = absent.flatMap(({ agentId, identityHash }) => [utf8ToBytes(agentId), identityHash]);
  return concatBytes(
    Uint8Array.of(format),
    binaryIdToBytes(channelId),
    number,
    founding,
    vector(concatBytes(...list)),
  );
}

/** Throws `WireError` for whatever `encodeGeneration` would not have written. */
export function decodeGeneration(bytes: Uint8Array): GenerationBinding {
  const reader = new MlsReader(bytes, "generation of a channel");
  const found = reader.uint8();
  if (found !== format) reader.refuse(`its format is ${found}, this version knows ${format}`);
  const channelId = binaryIdFromBytes<ChannelId>(reader.take(binaryIdBytes));
  const generation = reader.uint64();
  if (generation === 0) reader.refuse("generation 0 has no extension");
  const founding = reader.take(hashBytes);
  const list = reader.nested();
  reader.end();
  const absent: AbsentMember[] = [];
  while (!list.done) {
    const agentId = parseAgentId(String.fromCharCode(...list.take(agentIdBytes)));
    const identityHash = list.take(identityHashBytes);
    if (agentId <= (absent.at(-1)?.agentId ?? "")) {
      reader.refuse("the absent are not in ascending order, each once");
    }
    if (absent.length === limits.membersPerChannel) {
      reader.refuse("more are absent than a channel has members");
    }
    absent.push({ agentId, identityHash });
  }
  return { channelId, generation, founding, absent };
}
