import { assert, assertEquals } from "@std/assert";
import {
  binaryIdFromBytes,
  type ChannelId,
  limits,
  parseAgentId,
  parseChannelName,
} from "../../../proto/mod.ts";
import { type Welcome, Welcomes } from "./welcomes.ts";

function welcomeTo(number: number, bytes: number): Welcome {
  return {
    channelId: binaryIdFromBytes<ChannelId>(new Uint8Array(16).fill(number)),
    name: parseChannelName(`acme/ops/channel-${number}`),
    sender: parseAgentId("a".repeat(22)),
    epoch: 1,
    sequence: 1,
    joinedSequence: 1,
    welcome: new Uint8Array(bytes),
    timeMs: 0,
    generation: 0,
  };
}

Deno.test("Welcomes that nobody asked for take no endless memory, and leave room for small ones", () => {
  const welcomes = new Welcomes();
  for (let number = 0; number < 100; number++) {
    welcomes.deliver(welcomeTo(number, limits.welcomeBytes));
  }
  assert(
    welcomes.names.length * limits.welcomeBytes <= 16 * 1024 * 1024,
    `${welcomes.names.length} of the largest`,
  );
  const before = welcomes.names.length;
  for (const number of [0, 1]) welcomes.deliver(welcomeTo(number, 1000));
  welcomes.deliver(welcomeTo(200, 1000));
  assertEquals(
    welcomes.names.length,
    before + 1,
    "one that comes again takes the place of the one before",
  );
});

Deno.test("each sender has one Welcome waiting for a channel, and whoever expects it is given all of them", () => {
  const welcomes = new Welcomes();
  const [good, garbage] = [welcomeTo(1, 100), {
    ...welcomeTo(1, 50),
    sender: parseAgentId(`${"b".repeat(21)}A`),
  }];
  for (const welcome of [garbage, good, garbage, garbage]) welcomes.deliver(welcome);
  assertEquals(
    welcomes.find(good.name).map(({ sender }) => sender).sort(),
    [good.sender, garbage.sender].sort(),
  );
  assertEquals(welcomes.names, [good.name]);
  const given: Welcome[] = [];
  welcomes.expect(good.channelId, (welcome) => given.push(welcome) > 0);
  assert(given.includes(good) && given.includes(garbage));
  assertEquals(welcomes.names, []);
});
