/**
 * kill -9 of a founder, and of a follower, with every write to its store, from the commit that
 * stops a channel until it is in the new generation: over QUIC, in processes of their own. A
 * campaign; `tests/scenario/recovery/killed_while_recovering_test.ts` has the short form.
 */
import { assert, assertEquals } from "@std/assert";
import { grantedToken, openTestRelay } from "../../relay/testing/open_relay.ts";
import { createCertificate } from "../support/mod.ts";
import { bogusCommit } from "../support/scenario/bad_commits.ts";
import { name, until } from "../support/scenario/stage.ts";
import { account, connect, type Member, start } from "./doomed_process.ts";

const patienceMs = 60_000;

/** Whether the process died of it. */
async function dieAt(writes: number, role: "founder" | "follower"): Promise<boolean> {
  const folder = await Deno.makeTempDir();
  const { cert, key } = await createCertificate();
  const relay = await openTestRelay({ certificate: { cert, key } });
  const members: Member[] = [];
  try {
    for (const identity of ["alice", "bob", "carol"]) {
      members.push(await connect(identity, folder, relay, cert));
    }
    const [alice, bob, carol] = members;
    assert(alice && bob && carol);
    await alice.manager.create(name);
    for (const { manager } of [bob, carol]) {
      await manager.joinWithToken(name, await alice.manager.invite(name));
    }
    await bob.manager.send(name, "unread");
    const [doomed, other] = role === "founder" ? [alice, carol] : [carol, alice];
    for (const { manager } of [doomed, other]) {
      const channel = await manager.channel(name);
      await until("the message is there", () => channel.health().unread === 1);
    }
    await doomed.manager.close();
    const settings = { options: doomed.options, token: grantedToken(account), channel: name };
    const first = start({ ...settings, writes });
    const ready = await first.next();
    if (ready !== undefined) {
      await bob.agent.parts.session.call("SendCommit", await bogusCommit(bob.agent, name));
    }
    const channel = await other.manager.channel(name);
    if (role === "follower") {
      await until("alice is stopped", () => channel.health().state === "stopped");
      other.clock.aheadMs = 61_000;
      await channel.recover();
    }
    let told = await first.next();
    const { signal } = await first.child.status;
    if (told === undefined) {
      assertEquals(signal, "SIGKILL", `after ${writes} writes`);
      // Nothing has stopped the channel if it died before it said that it was ready.
      if (ready === undefined) {
        await bob.agent.parts.session.call("SendCommit", await bogusCommit(bob.agent, name));
      }
      const second = start(settings);
      assertEquals(await second.next(), "ready");
      told = await second.next();
      await second.child.status;
    }
    assertEquals(told, "in unread false", `${role}, ${writes} writes`);
    const texts: (string | undefined)[] = [];
    while (texts.length < 2) {
      texts.push((await channel.receiveEnvelope({ timeoutMs: patienceMs }))?.text());
    }
    assertEquals(texts, ["unread", "from the doomed"]);
    return signal === "SIGKILL";
  } finally {
    for (const { manager } of members) await manager.close();
    await relay.close();
    await Deno.remove(folder, { recursive: true });
  }
}

for (const role of ["founder", "follower"] as const) {
  Deno.test(`kill -9 of a ${role} with any write to its store loses nothing`, async () => {
    let writes = 1;
    while (await dieAt(writes, role)) writes++;
    console.log(`${role}: killed with each of ${writes - 1} writes`);
    // At least that it is stopped, and that it is in the new generation.
    assert(writes > 2, `${writes - 1} writes`);
  });
}
