/** The dependencies that all channels of a client share. */
import {
  type AgentId,
  type ChannelId,
  type ChannelName,
  type InviteId,
  limits,
} from "../../proto/mod.ts";
import { createCarryOut } from "../base/interruptible_work.ts";
import type { Runtime } from "../base/runtime.ts";
import type { Signatures } from "../mls/crypto/signatures.ts";
import type { BadgeChoice } from "../mls/badges.ts";
import type { MemberDeps } from "../mls/group.ts";
import type { MlsIdentity } from "../mls/identity.ts";
import type { CredentialPolicy } from "../mls/leaf.ts";
import { createCellPadding } from "../mls/crypto/padding.ts";
import type { RelaySession } from "../session/relay_session.ts";
import type { Carrier } from "./upkeep/carrier.ts";
import type { ChannelEventBody } from "./events.ts";
import type { Recogniser } from "./group/recognition.ts";
import type { ChannelStore } from "./records.ts";
import { ReceiptBudget } from "../content/receipt_budget.ts";
import type { HealingTurns } from "./runner/healing_turns.ts";
import type { KeyPackages } from "./runner/key_package_runner.ts";
import type { HealingPace } from "./upkeep/healing_pace.ts";
import type { Welcomes } from "./runner/welcomes.ts";

export { ReceiptBudget };

export interface ChannelDeps {
  readonly session: RelaySession;
  readonly store: ChannelStore;
  readonly runtime: Runtime;
  readonly signatures: Signatures;
  readonly identity: MlsIdentity;
  readonly agentId: AgentId;
  readonly keyPackages: KeyPackages;
  readonly welcomes: Welcomes;
  /** Words about one channel in the messages of another. */
  readonly carrier: Carrier;
  /** A number that grows with every call; see `OutboxRunner`. */
  readonly nextRun: () => number;
  /** Healing commits of all channels take turns. */
  readonly healing: Pick<HealingTurns, "take">;
  /** Others are told what becomes of their messages here, when they ask. */
  readonly areReceiptsGiven: boolean;
  readonly receiptBudget: ReceiptBudget;
  /** How the user of this agent recognises others. */
  readonly recogniser: Recogniser;
  /** The badges that leaves of this agent show; none when it is not given. */
  readonly badges?: BadgeChoice | undefined;
  /** The invite of ours by which an agent that we are letting in comes; see `InviteBook`. */
  readonly inviteOf: (channelId: ChannelId, agentId: AgentId) => InviteId | undefined;
  /** When they are made. */
  readonly pace: HealingPace;
  /** Returns the time by the relay's clock, as far as that is known. */
  readonly relayNowMs: () => number;
  /** Something happened in a channel. */
  readonly onEvent: (
    event: ChannelEventBody & { readonly atMs: number; readonly channel: ChannelName },
  ) => void;
}

/** Returns the times of the clocks by which lifetimes are judged. */
export function clocksOf(
  { relayNowMs, runtime }: Pick<ChannelDeps, "relayNowMs" | "runtime">,
): readonly number[] {
  return [relayNowMs(), runtime.nowMs()];
}

export function memberDepsOf(deps: ChannelDeps, policy: CredentialPolicy): MemberDeps {
  const paddings = new Map<number, (contentBytes: number) => number>();
  const paddingFor = (cellBytes: number): (contentBytes: number) => number => {
    const known = paddings.get(cellBytes) ?? createCellPadding(cellBytes);
    paddings.set(cellBytes, known);
    return known;
  };
  const cellBytes = (): number =>
    deps.session.state.kind === "online"
      ? deps.session.state.connection.cellBytes
      : limits.cellBytes;
  return {
    signatures: deps.signatures,
    policy,
    randomBytes: (length) => deps.runtime.randomBytes(length),
    findPsk: () => undefined,
    identity: deps.identity,
    ...(deps.badges !== undefined && { badges: deps.badges }),
    clocksMs: () => clocksOf(deps),
    padding: (contentBytes) => paddingFor(cellBytes())(contentBytes),
    carryOut: createCarryOut(deps.runtime),
  };
}
