/** An inbox with entries as tests want them, without a group behind it. */
import { type MessageId, parseAgentId, parseBinaryId } from "../../../proto/mod.ts";
import type { Runtime } from "../../base/runtime.ts";
import type { IncomingEnvelope } from "../../content/incoming.ts";
import type { HandedMessage } from "../../content/ports.ts";
import { type InboxItem, InboxRunner } from "../runner/inbox_runner.ts";

export type Lane = IncomingEnvelope["lane"];

export function item(
  sequence: number,
  { bytes = 1, lane = "message" }: { bytes?: number; lane?: Lane } = {},
): InboxItem {
  const sender = parseAgentId("a".repeat(22));
  const ratchet = { secret: new Uint8Array(32), generation: 0, skipped: new Map() };
  const kind = lane === "aside" ? "message" : lane;
  const opened = {
    id: parseBinaryId<MessageId>("A".repeat(22)),
    sender,
    identity: new Uint8Array(1),
    keyUnchanged: true,
    knownAs: undefined,
  };
  const key = { generation: sequence, key: { key: new Uint8Array(32), nonce: new Uint8Array(12) } };
  const ratchets = { handshake: ratchet, application: ratchet };
  return {
    incoming: {
      ...opened,
      kind,
      lane,
      timeMs: sequence,
      sequence,
      fields: {},
      body: new Uint8Array(bytes),
    },
    sequence,
    epoch: 1,
    opening: { receipt: { order: sequence, epoch: 1n, leafIndex: 0, ratchets, ...key }, open: 1 },
    arrival: { sender, counter: sequence, epoch: 1, since: 0 },
    bytes,
  };
}

const noTimers: Runtime["after"] = () => () => {};

/** `done` are the places of what is done with, `handed` the requests and replies. */
export function createInbox(
  { discard = false, written = (): Promise<void> => Promise.resolve(), after = noTimers } = {},
): { inbox: InboxRunner; done: number[]; handed: HandedMessage[] } {
  const done: number[] = [];
  const handed: HandedMessage[] = [];
  const inbox = new InboxRunner({
    onDone: (items) => done.push(...items.map(({ sequence }) => sequence)),
    isFarAhead: () => false,
    nearer: () => undefined,
    written,
    onRequest: (request) => handed.push(request),
    onReply: (reply) => handed.push(reply),
    isExpired: ({ fields: { expiryMs } }) => expiryMs !== undefined,
    discard,
    after,
    receipts: {
      done: () => [],
      passed: () => [],
      owe: () => undefined,
      say: () => Promise.resolve(),
    },
  });
  return { inbox, done, handed };
}
