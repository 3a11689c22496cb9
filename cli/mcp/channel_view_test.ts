import { assertEquals } from "@std/assert";
import type { Channel } from "../../sdk/mod.ts";
import { describeChannel } from "./channel_view.ts";

Deno.test("a channel that does not work says so in words for a model, with the command that its user has", () => {
  const told = (state: string): unknown => {
    const health = (): object => ({
      state,
      unread: 2,
      problem: "a commit of epoch 7",
      action: "call recover()",
    });
    const channel = {
      name: "acme/ops/deploy",
      members: () => [1, 2],
      health,
    } as unknown as Channel; // cast: no more is asked here
    return describeChannel(channel, "deno task static");
  };
  assertEquals(told("ok"), { name: "acme/ops/deploy", members: 2, unread: 2 });
  assertEquals(told("stopped"), {
    name: "acme/ops/deploy",
    members: 2,
    unread: 2,
    problem:
      "The channel does not go on: an owner of it must repair it. Tell your user to run: deno task static channel health",
  });
});
