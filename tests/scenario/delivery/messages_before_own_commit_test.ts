// A commit of ours is taken before we have read what stands before it in the log: those messages
// must still be readable.
import { assertEquals } from "@std/assert";
import type { NoticeEnvelope } from "../../../proto/mod.ts";
import { name, read, Stage } from "../../support/scenario/stage.ts";

Deno.test("messages before our own commit are read, one after the other, when its reply overtakes them", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const held: NoticeEnvelope[] = [];
  alice.session.tampering.notice = (notice) => {
    if (!["DeliverMessage", "DeliverCommit"].includes(notice.operation)) return [notice];
    held.push(notice);
    return [];
  };
  for (const text of ["one", "two", "three"]) await bob.manager.send(name, text);
  const carol = await stage.actor("carol");
  const channel = await alice.channel();
  await channel.addMember(await carol.client.generateKeyPackage());
  const heard: string[] = [];
  for (const notice of held.splice(0, 3)) {
    alice.session.inject(notice);
    // Done with each before the next one comes: nothing unread holds its keys.
    heard.push(...await read(channel, 1));
    await channel.send(`heard ${heard.length}`);
  }
  assertEquals(heard, ["one", "two", "three"]);
  assertEquals(channel.health().issues, []);
});
