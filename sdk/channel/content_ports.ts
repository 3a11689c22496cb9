/** The channel's side of requests and replies. */
import type { Ports } from "../content/ports.ts";
import type { ChannelDeps } from "./deps.ts";
import type { HealthLog } from "./health.ts";
import { reportBadContent } from "./runner/intake.ts";
import { translating } from "./faults.ts";
import type { Membership } from "./membership.ts";
import { createRequestRecords } from "./request_records.ts";
import type { OutboxRunner } from "./runner/outbox_runner.ts";
import type { PositionRunner } from "./runner/position_runner.ts";
import { standsInLog } from "./standing.ts";

interface ContentParts {
  readonly membership: Membership;
  readonly outbox: Pick<OutboxRunner, "send">;
  readonly health: HealthLog;
  readonly maxAgeMs: () => number;
  readonly progress: () => Pick<PositionRunner, "note" | "written">;
}

export function createPorts(
  { membership, outbox, health, maxAgeMs, progress }: ContentParts,
  deps: ChannelDeps,
): Ports {
  const { agentId, runtime, relayNowMs, session } = deps;
  return {
    agentId,
    runtime,
    relayNowMs,
    maxAgeMs,
    records: createRequestRecords(membership.channelId, deps),
    send: (plaintext, outgoing) => outbox.send(plaintext, { ...outgoing, alone: true }),
    // With the position and what replies before have changed: one write for a request instead of two.
    writeAlong: (changes) =>
      translating("Cannot note the request", () => {
        progress().note(changes);
        // A requester waits for its handler.
        return progress().written({ isUrgent: true });
      }),
    isMember: (each) => membership.memberOf(each) !== undefined,
    catchUp: async (timeoutMs) => {
      const { epoch } = await session.call("ListMembers", { channelId: membership.channelId }, { timeoutMs });
      await membership.waitForEpoch(epoch, timeoutMs);
    },
    stands: (id) => standsInLog(id, { membership, session }),
    tell: health.tell,
    refuse: (incoming, why) => reportBadContent(health, incoming, why),
  };
}
