// Programs that finish and close after a channel of theirs has ended.
import { assertEquals, assertRejects } from "@std/assert";
import { createError, StaticError } from "../../base/errors.ts";
import { type Actor, name, Stage, until } from "../../../tests/support/scenario/stage.ts";
import { holdAlone } from "./connecting.ts";
import type { AgentHandle } from "./agent_handle.ts";
import { SharedAgent } from "./shared_agent.ts";
import { programOf, programWith } from "./testing/memory_program.ts";

const channel = { channel: name };

/** A channel in which one message waits for bob. */
async function told(stage: Stage): Promise<Actor> {
  const { alice, bob } = await stage.pair();
  await (await alice.channel()).send("one");
  return bob;
}

/** The program is past the message, and that is on disk; then the channel ends. */
async function end(bob: Actor, act: () => Promise<unknown>): Promise<void> {
  const live = await bob.channel();
  await until("it is on disk", () => Promise.resolve(live.health().unread === 0));
  await act();
}

Deno.test("a program that holds its agent closes it after a channel has ended: what it passed is on disk", async () => {
  await using stage = await Stage.open();
  const bob = await told(stage);
  let isClosed = false;
  const close = (): Promise<void> => Promise.resolve(void (isClosed = true));
  const program = programWith({ ...holdAlone(bob.client, bob.manager), close });
  await program.connection.call("receive", channel);
  const { fields } = await program.connection.call("receive", { ...channel, timeoutMs: 1 });
  assertEquals(fields.flag("none"), true);
  const over = assertRejects(
    () => program.connection.call("receive", channel),
    StaticError,
    "has ended",
  );
  await end(bob, () => bob.manager.close());
  await over;
  await program.connection.call("close");
  assertEquals(isClosed, true);
});

Deno.test("a stream is finished after its channel has ended: what it passed is on disk", async () => {
  for (const isShared of [false, true]) {
    await using stage = await Stage.open();
    const bob = await told(stage);
    const program = isShared
      ? programWith((await SharedAgent.over(bob.agent)).hold())
      : programOf(bob);
    const stream = (await program.connection.call("read", channel)).fields.number("stream");
    await program.connection.call("next", { stream, count: 8 });
    await program.connection.call("passed", { stream, item: 1 });
    await end(bob, () => program.connection.call("leave", channel));
    await program.connection.call("finish", { stream });
  }
});

Deno.test("close acknowledges what it can, and closes the agent, also when one channel fails", async () => {
  await using stage = await Stage.open();
  const { manager } = await stage.actor("alice");
  const names = ["acme/demo/first", "acme/demo/second"];
  const ids = await Promise.all(names.map(async (each) => (await manager.create(each)).id));
  const calls: string[] = [];
  const held: AgentHandle = {
    ...holdAlone(manager.client, manager),
    read: ({ id }) =>
      Promise.resolve({
        next: () => Promise.resolve(undefined),
        finish: async () => {
          if (id === ids[0]) throw createError("transport_error", "It is not on disk");
          // wait: a turn of the event loop, so that it ends after the one that fails
          await new Promise((resolve) => setTimeout(resolve));
          calls.push("finished");
        },
        end: () => Promise.resolve(),
      }),
    close: () => Promise.resolve(void calls.push("closed")),
  };
  const { connection } = programWith(held);
  for (const each of names) {
    await assertRejects(() => connection.call("receive", { channel: each }), StaticError);
  }
  await assertRejects(() => connection.call("close"), StaticError, "It is not on disk");
  assertEquals(calls, ["finished", "closed"]);
});
