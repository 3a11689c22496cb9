/** Who left, was removed or lost step comes back: what was true of the membership before says nothing about this one. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import type { RequestBody } from "../../proto/mod.ts";
import { MlsError } from "../../sdk/mod.ts";
import { allAgree, name, read, Stage, until } from "./support/stage.ts";

Deno.test("messages of a member that came back are shown after a restart of their reader", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  for (const text of ["one", "two", "three"]) await carol.manager.send(name, text);
  assertEquals(await read(await bob.channel(), 3), ["one", "two", "three"]);
  const channel = await alice.channel();
  await channel.removeMember(carol.client.agentId);
  await carol.manager.joinWithToken(name, await alice.manager.invite(name));
  await allAgree(alice, bob, carol);
  await bob.restart();
  await carol.manager.send(name, "here again");
  assertEquals(await read(await bob.channel(), 1, 10_000), ["here again"]);
});

Deno.test("a Welcome that a relay repeats does not start an epoch again whose keys were used", async () => {
  await using stage = await Stage.open();
  const [alice, bob] = [await stage.actor("alice"), await stage.actor("bob")];
  // A relay can hand out a last resort whenever it likes, and its private keys stay after a use.
  let lastResort: Uint8Array | undefined;
  bob.session.tampering.call = (operation, body, forward) => {
    if (operation === "UploadKeyPackage") lastResort = (body as RequestBody<"UploadKeyPackage">).lastResort;
    return forward();
  };
  const low = { remaining: 1, wanted: 0, hasLastResort: false };
  bob.session.inject({ kind: "notice", operation: "KeyPackagesLow", body: low });
  await until("bob has given his last resort", () => lastResort !== undefined);
  const channel = await alice.manager.create(name);
  assert(lastResort);
  const welcome = await channel.addMember(lastResort);
  const joined = await bob.client.joinChannel(name, welcome);
  await joined.send("under the first key of this epoch");
  await joined.leave();
  await assertRejects(() => bob.client.joinChannel(name, welcome), MlsError, "followed the Welcome before");
  assertEquals(bob.client.channels, []);
});
