/**
 * Requests of members to come back, as their agents signed them. The relay's word lets nobody in.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import {
  type JoinRequestId,
  readKeyPackage,
  verifyKeyPackage,
  WireError,
} from "../../../proto/mod.ts";
import { encodeBinding } from "../../mls/channel_extensions.ts";
import { MlsFault } from "../../mls/codec.ts";
import {
  checkKeyPackage,
  checkLifetime,
  decodeKeyPackageMessage,
  type KeyPackage,
} from "../../mls/key_package.ts";
import { checkLeaf } from "../../mls/leaf.ts";
import { isKeyMissing } from "../../mls/sealing_rules.ts";
import { type ChannelDeps, clocksOf } from "../deps.ts";
import type { RejoinClaim } from "../group/followed_commits.ts";
import type { Membership } from "../group/membership.ts";
import type { ReturningMember } from "../commits/plan.ts";
import type { DeliveredRejoinRequest } from "../root/root_state.ts";
import type { LeafStatus, MissingItem } from "../upkeep/duties_state.ts";

type SignedRejoinClaim = RejoinClaim & ReturningMember;

export class RejoinClaims {
  readonly #membership: Membership;
  readonly #deps: Pick<ChannelDeps, "relayNowMs" | "runtime" | "signatures">;
  readonly #kept = new Map<JoinRequestId, SignedRejoinClaim>();

  constructor(
    membership: Membership,
    deps: Pick<ChannelDeps, "relayNowMs" | "runtime" | "signatures">,
  ) {
    this.#membership = membership;
    this.#deps = deps;
  }

  /** Keeps what its agent signed. False when it is not genuine. */
  keep(request: DeliveredRejoinRequest): boolean {
    const claim = this.#claimOf(request);
    if (claim !== undefined) this.#kept.set(request.requestId, claim);
    return claim !== undefined;
  }

  /** One that is not kept is of nobody. */
  judge(request: JoinRequestId): LeafStatus {
    const claim = this.#kept.get(request);
    return claim === undefined ? "gone" : this.#membership.judgeLeaf(claim);
  }

  /** One about an outdated leaf is told the present one first, which may show another badge. */
  lackedBy(request: JoinRequestId): MissingItem | undefined {
    const claim = this.#kept.get(request);
    if (claim === undefined || this.judge(request) !== "present") return undefined;
    const { group } = this.#membership;
    if (!this.#isInTime(claim)) return "time";
    if (isKeyMissing(claim.keyPackage, group.binding.sealing)) return "key";
    return group.whyShut(claim.keyPackage, true) === undefined ? undefined : "badge";
  }

  of(request: JoinRequestId): ReturningMember | undefined {
    return this.#kept.get(request);
  }

  /** Nobody waits for the others any more. */
  forgetOthers(requests: ReadonlySet<JoinRequestId>): void {
    for (const request of this.#kept.keys()) if (!requests.has(request)) this.#kept.delete(request);
  }

  /**
   * Whether a member asks to come back from where this agent knows it to be: it cannot follow
   * either.
   */
  isStuckHere(request: DeliveredRejoinRequest): boolean {
    const claim = this.#claimOf(request);
    return claim !== undefined && this.#isInTime(claim) &&
      this.#membership.judgeLeaf(claim) === "present";
  }

  /**
   * Whether a member signed that it has left for a generation of the channel, and asks to be let in
   * there.
   */
  hasLeftFor(request: DeliveredRejoinRequest, generation: number): boolean {
    const claim = this.#claimOf(request, generation);
    return claim !== undefined && this.#isInTime(claim);
  }

  /**
   * Returns whether the KeyPackage is valid by each of the clocks. If they differ, one of them is
   * wrong, and that is not the asker's fault.
   */
  #isInTime({ keyPackage }: SignedRejoinClaim): boolean {
    try {
      checkLifetime(keyPackage, clocksOf(this.#deps));
      return true;
    } catch (error) {
      if (error instanceof MlsFault) return false;
      throw error;
    }
  }

  /** Returns the claim as its agent signed it; undefined when it is not genuine. */
  #claimOf(request: DeliveredRejoinRequest, generation?: number): SignedRejoinClaim | undefined {
    const { agentId, requestId, leafHash, signature } = request;
    const keyPackage = this.#readKeyPackage(request);
    if (keyPackage === undefined) return undefined;
    const signatureKey = keyPackage.leafNode.signaturePublicKey;
    const claim = {
      agentId,
      leafHash,
      signature,
      keyPackageHash: sha256(request.keyPackage),
      signatureKey,
    };
    return this.#membership.isRejoinOf(claim, generation)
      ? { ...claim, requestId, keyPackage }
      : undefined;
  }

  /**
   * Undefined when it is not one, not the asker's, or such that no commit could add it at any time.
   * Two decoders read it, and each may refuse what the other takes.
   */
  #readKeyPackage(request: DeliveredRejoinRequest): KeyPackage | undefined {
    const { group, group: { current }, trust } = this.#membership;
    try {
      const unverified = readKeyPackage(request.keyPackage);
      const { agentId } = verifyKeyPackage(
        unverified,
        unverified.notBeforeMs,
        this.#deps.signatures.verifyHandshake,
      );
      if (agentId !== request.agentId) return undefined;
      const keyPackage = decodeKeyPackageMessage(request.keyPackage);
      const { suiteId } = current;
      checkKeyPackage(keyPackage, suiteId);
      // One without a key is told so, or ends the sealing.
      const extensions = encodeBinding({ ...group.binding, sealing: undefined });
      checkLeaf(keyPackage.leafNode, { suiteId, extensions, policy: trust.policy });
      return keyPackage;
    } catch (error) {
      if (error instanceof WireError || error instanceof MlsFault) return undefined;
      throw error;
    }
  }
}
