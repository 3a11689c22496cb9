import { assertEquals, assertThrows } from "@std/assert";
import type { Channel, ChannelMember } from "../../sdk/mod.ts";
import { Failure } from "../failure.ts";
import { findMember } from "./channel.ts";

const [bob, mallory] = ["b".repeat(22), "m".repeat(22)];

function channelWith(...members: readonly { readonly agentId: string; readonly identity: string }[]): Channel {
  // cast: findMember() asks for nothing else
  return { name: "acme/ops/deploy", members: () => members as readonly ChannelMember[] } as unknown as Channel;
}

Deno.test("findMember() takes an agent id for that agent, also when a stranger calls itself like the id", () => {
  const channel = channelWith({ agentId: mallory, identity: bob }, { agentId: bob, identity: "bob" });
  assertEquals<string>(findMember(channel, bob).agentId, bob);
  assertEquals<string>(findMember(channel, "bob").agentId, bob);
  assertThrows(() => findMember(channel, "carol"), Failure, "no member");
});
