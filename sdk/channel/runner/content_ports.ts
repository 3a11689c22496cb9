/** The channel's side of requests and replies. */
import type { AgentId, Recognition } from "../../../proto/mod.ts";
import type { ContentPorts } from "../../content/ports.ts";
import type { ChannelDeps } from "../deps.ts";
import { type HealthLog, reportBadContent } from "../health.ts";
import { translating } from "../faults.ts";
import type { Membership } from "../group/membership.ts";
import type { EpochWaiters } from "./epoch_waiters.ts";
import { createRequestRecords } from "./request_records.ts";
import type { OutboxRunner } from "./outbox_runner.ts";
import type { PositionRunner } from "./position_runner.ts";
import { standsInLog } from "./own_message_place.ts";

interface ContentParts {
  readonly membership: Membership;
  readonly epochs: Pick<EpochWaiters, "wait">;
  readonly outbox: Pick<OutboxRunner, "send">;
  readonly health: HealthLog;
  readonly maxAgeMs: () => number;
  readonly progress: () => Pick<PositionRunner, "note" | "written">;
}

export function createPorts(
  { membership, epochs, outbox, health, maxAgeMs, progress }: ContentParts,
  deps: ChannelDeps,
): ContentPorts {
  const { agentId, runtime, relayNowMs, session, store, recogniser } = deps;
  const recognise = (each: AgentId): Recognition =>
    recogniser.of(membership.memberOf(each) ?? { agentId: each });
  return {
    agentId,
    runtime,
    relayNowMs,
    maxAgeMs,
    records: createRequestRecords(membership.channelId, { store, recognise }),
    send: (plaintext, outgoing) => outbox.send(plaintext, { ...outgoing, alone: true }),
    // With the position and what replies before have changed: one write for a request instead of
    // two.
    writeAlong: (changes) =>
      translating("Cannot note the request", () => {
        progress().note(changes);
        // A requester waits for its handler.
        return progress().written({ isUrgent: true });
      }),
    isMember: (each) => membership.memberOf(each) !== undefined,
    catchUp: (timeoutMs) =>
      session.call("ListMembers", { channelId: membership.channelId }, { timeoutMs })
        .then(({ epoch }) => epochs.wait(epoch, timeoutMs)),
    stands: (id) => standsInLog(id, { membership, session }),
    tell: health.tell,
    refuse: (incoming, why) => reportBadContent(health, incoming, why),
  };
}
