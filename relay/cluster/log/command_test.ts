import { assertEquals, assertThrows } from "@std/assert";
import type { NewEntry } from "../../engine/engine.ts";
import {
  commit,
  founding,
  message,
  sampleAgent,
  sampleChannel,
  sampleChannelId,
} from "../../engine/testing/sample.ts";
import { decodeCommand, encodeCommand, type LogCommand, type LoggedEntry } from "./command.ts";

const charge = { leaseId: "relay/lease", fence: 7, messages: 2, payloadBytes: 100 };
const room = { channelBytes: 1, accountBytes: 2 };
const by = { agentId: sampleAgent(1), session: 1024 };

/** Without a map of Welcomes. */
function logged({ welcomeBytes: _, ...entry }: NewEntry): LoggedEntry {
  return entry;
}

const entries: readonly LoggedEntry[] = [
  logged(message("m")),
  logged(message("m", { charge, room, by, body: new Uint8Array(5000).fill(3) })),
  logged(commit("c", 3, { added: [sampleAgent(2)], removed: [sampleAgent(3)], by })),
  {
    ...logged(commit("w", 4)),
    welcomeBytes: [[sampleAgent(2), 40]],
    records: [{ kind: "delete", key: "k" }, {
      kind: "replace",
      key: "l",
      revision: 3,
      value: new Uint8Array(2),
    }],
  },
  logged(founding("f", { epoch: 10, fromEpoch: 2 }, { charge })),
  {
    ...logged(founding("j", { epoch: 10, fromEpoch: 2 }, { charge, room, by, judgedAt: 7 })),
    welcomeBytes: [],
  },
  logged(commit("r", 5, { isRoutine: true })),
];

Deno.test("a command is read as it was written", () => {
  const channelId = sampleChannelId(1);
  const commands: LogCommand[] = [
    ...entries.map((entry): LogCommand => ({ op: "append", channelId, entry })),
    { op: "create", channel: sampleChannel(1, { maxOpen: 5 }) },
    { op: "cursors", channelId, moves: [[sampleAgent(1), { consumed: 5, acknowledged: 4 }]] },
    {
      op: "cursors",
      channelId,
      moves: [1, 2, 3].map((n) => [sampleAgent(n), { consumed: n, acknowledged: 0 }]),
    },
    { op: "session", agentId: sampleAgent(1), nowMs: 1_000, behind: 7 },
    { op: "moved", agentId: sampleAgent(1), timeMs: 1_000 },
    { op: "mark" },
  ];
  for (const command of commands) assertEquals(decodeCommand(encodeCommand(command)), command);
});

Deno.test("a command that is damaged is refused", () => {
  const bytes = encodeCommand({ op: "mark" });
  for (let length = 0; length < bytes.length; length++) {
    assertThrows(() => decodeCommand(bytes.subarray(0, length)), Error);
  }
  assertThrows(() => decodeCommand(new Uint8Array([0x01])), TypeError);
});
