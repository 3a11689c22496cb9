/** A founding as an owner sends it, for tests whose MLS bytes nobody opens. */
import {
  type AgentId,
  type ChannelId,
  commitStatement,
  foundingStatement,
  generationOf,
  type RequestBody,
} from "../../proto/mod.ts";
import { createWelcome } from "./mls.ts";
import { sha256 } from "@noble/hashes/sha2.js";

type Founding = RequestBody<"FoundGeneration">;

/** An agent of any test. */
interface Founder {
  readonly agentId: AgentId;
  readonly publicKey: Uint8Array;
  readonly identity: Uint8Array;
  sign(message: Uint8Array): Uint8Array;
}

export interface FoundingPlan {
  readonly channelId: ChannelId;
  readonly founder: Founder;
  /** The commit that is called bad, as it was sent, and its sender. */
  readonly bad: RequestBody<"SendCommit">;
  readonly blamed: Founder;
  readonly members: readonly AgentId[];
  readonly without?: readonly AgentId[];
  readonly owners?: readonly AgentId[];
  readonly absent?: readonly AgentId[];
  readonly change?: Partial<Founding["founding"]>;
}

export function foundingRequest(plan: FoundingPlan): Founding {
  const { channelId, founder, bad, blamed, absent = [] } = plan;
  const { publicKey, identity, agentId } = founder;
  const members = [...plan.members].sort();
  const unsigned = {
    generation: generationOf(bad.epoch) + 1,
    baseEpoch: bad.epoch,
    transcriptHash: new Uint8Array(32).fill(1),
    badCommit: sha256(bad.commit),
    blamed: blamed.agentId,
    signatureKey: publicKey,
    identity,
    members,
    without: [...plan.without ?? []].sort(),
    owners: [...plan.owners ?? [agentId]].sort(),
    suite: 3,
    state: new Uint8Array(32).fill(2),
    ...plan.change,
  };
  const recipients = members.filter((member) => member !== agentId && !absent.includes(member));
  const { added, removed, owners, state, nextState, signature } = bad;
  return {
    channelId,
    founding: {
      ...unsigned,
      signature: founder.sign(foundingStatement({ channelId, ...unsigned })),
    },
    proof: {
      signatureKey: blamed.publicKey,
      identity: blamed.identity,
      added,
      removed,
      ...(owners && { owners }),
      state,
      nextState,
      signature,
    },
    change: Uint8Array.of(1),
    absent: [...absent].sort(),
    welcomes: recipients.length === 0
      ? []
      : [{ recipients, welcome: createWelcome(recipients.length) }],
  };
}

/** As its sender would have signed it, had it been about another commit. */
export function otherProof(body: Founding, blamed: Founder): Founding["proof"] {
  const { channelId, founding: { generation, baseEpoch }, proof } = body;
  const { signatureKey, identity, owners, signature: _, ...declared } = proof;
  const commitHash = new Uint8Array(32);
  const fields = {
    channelId,
    generation: generation - 1,
    epoch: baseEpoch,
    commitHash,
    ...declared,
  };
  const signature = blamed.sign(commitStatement({ ...fields, owners: owners?.agentIds }));
  return { signatureKey, identity, ...(owners && { owners }), ...declared, signature };
}
