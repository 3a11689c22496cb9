/**
 * The channel that requests and replies need, in memory: a clock that the test moves, records that
 * outlive an object, no relay.
 */
import { type MessageId, parseAgentId } from "../../../proto/mod.ts";
import { SimulatedClock } from "../../../tests/support/mod.ts";
import type { RecordChange } from "../../store/mod.ts";
import type { IncomingEnvelope } from "../incoming.ts";
import type { ContentPorts, RequestEvent, SentRequest } from "../ports.ts";

export const alice = parseAgentId("A".repeat(22));
export const bob = parseAgentId("B".repeat(22));

/** The records on disk. */
export interface MemoryRecords {
  readonly asked: Map<MessageId, SentRequest>;
  readonly replies: Map<string, IncomingEnvelope>;
}

export interface TestPorts {
  readonly ports: ContentPorts;
  readonly clock: SimulatedClock;
  readonly events: RequestEvent["type"][];
  readonly records: MemoryRecords;
}

/** Bob's side of the channel. `onWrite` runs while the disk writes. */
export function createPorts(
  { onWrite = () => {}, ...given }: Partial<ContentPorts> & {
    readonly onWrite?: (clock: SimulatedClock) => void;
  } = {},
): TestPorts {
  const clock = new SimulatedClock(0);
  const events: RequestEvent["type"][] = [];
  const records: MemoryRecords = { asked: new Map(), replies: new Map() };
  let random = 0;
  /** Changes act when they are written. */
  const pending = new Map<RecordChange, () => void>();
  const change = (act: () => void): RecordChange => {
    const made: RecordChange = { type: "delete", kind: "any", id: "" };
    pending.set(made, act);
    return made;
  };
  const write = (changes: readonly RecordChange[]): Promise<void> => {
    for (const each of changes) pending.get(each)?.();
    onWrite(clock);
    return Promise.resolve();
  };
  const ports: ContentPorts = {
    agentId: bob,
    runtime: {
      nowMs: clock.nowMs,
      after: clock.after,
      randomBytes: (length) => new Uint8Array(length).fill(++random),
    },
    relayNowMs: clock.nowMs,
    maxAgeMs: () => 1_000_000,
    records: {
      asked: () => Promise.resolve([...records.asked.values()]),
      putAsked: (asked) => change(() => void records.asked.set(asked.id, asked)),
      deleteAsked: ({ id, to }) => [change(() => {
        records.asked.delete(id);
        for (const from of to) records.replies.delete(`${id}.${from}`);
      })],
      putReply: (id, reply) =>
        change(() => void records.replies.set(`${id}.${reply.sender}`, reply)),
      reply: (id, from) => Promise.resolve(records.replies.get(`${id}.${from}`)),
      attempts: () => Promise.resolve(new Map()),
      putAttempts: () => change(() => {}),
      deleteAttempts: () => change(() => {}),
      write,
    },
    writeAlong: write,
    send: () => Promise.resolve(),
    isMember: () => true,
    catchUp: () => Promise.resolve(),
    stands: () => Promise.resolve(false),
    tell: ({ type }) => void events.push(type),
    refuse: () => {},
    ...given,
  };
  return { ports, clock, events, records };
}
