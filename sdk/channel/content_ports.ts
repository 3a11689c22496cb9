/** What requests and replies need of a channel. */
import type { Ports } from "../content/ports.ts";
import type { ChannelDeps } from "./deps.ts";
import type { HealthLog } from "./health.ts";
import { reportBadContent } from "./intake.ts";
import type { Membership } from "./membership.ts";
import type { Outbox } from "./outbox.ts";
import { createRequestRecords } from "./request_records.ts";
import { standsInLog } from "./standing.ts";

interface ContentParts {
  readonly membership: Membership;
  readonly outbox: Outbox;
  readonly health: HealthLog;
  readonly maxAgeMs: () => number;
}

export function createPorts({ membership, outbox, health, maxAgeMs }: ContentParts, deps: ChannelDeps): Ports {
  const { agentId, runtime, relayNowMs, store, session } = deps;
  return {
    agentId,
    runtime,
    relayNowMs,
    maxAgeMs,
    records: createRequestRecords(membership.channelId, store),
    send: (plaintext, outgoing) => outbox.send(plaintext, { ...outgoing, alone: true }),
    isMember: (each) => membership.memberOf(each) !== undefined,
    stands: (id) => standsInLog(id, { membership, session }),
    tell: health.tell,
    refuse: (incoming, why) => reportBadContent(health, incoming, why),
  };
}
