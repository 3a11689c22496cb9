/**
 * kill -9 of an agent that leaves, with every write to its store and when the relay is asked: over
 * QUIC, in a process of its own. A campaign;
 * `tests/scenario/membership/killed_while_leaving_test.ts` has the short form.
 */
import { assert, assertEquals } from "@std/assert";
import { grantedToken, openTestRelay } from "../../relay/testing/open_relay.ts";
import { createCertificate } from "../support/mod.ts";
import { name, until } from "../support/scenario/stage.ts";
import { account, connect, type Member, start } from "./doomed_process.ts";

type Moment = number | "asked" | "taken";

/** The channel as its next process finds it, or undefined when it has lived. */
async function leaves(
  role: "owner" | "member",
  moment: Moment,
): Promise<"stays" | "left" | undefined> {
  const folder = await Deno.makeTempDir();
  const { cert, key } = await createCertificate();
  const relay = await openTestRelay({ certificate: { cert, key } });
  const members: Member[] = [];
  try {
    for (const identity of ["alice", "bob"]) {
      members.push(await connect(identity, folder, relay, cert));
    }
    const [alice, bob] = members;
    assert(alice && bob);
    await alice.manager.create(name);
    await bob.manager.joinWithToken(name, await alice.manager.invite(name));
    const [leaver, other] = role === "owner" ? [alice, bob] : [bob, alice];
    const channel = await other.manager.channel(name);
    await until("both are in", () => channel.members().length === 2);
    await leaver.manager.close();
    const settings = { options: leaver.options, token: grantedToken(account), channel: name };
    const leave = role === "owner" ? other.manager.client.agentId : undefined;
    const [writes, diesAt] = typeof moment === "number" ? [moment, undefined] : [undefined, moment];
    const first = start({
      ...settings,
      ...(writes !== undefined && { writes }),
      does: { leave, diesAt },
    });
    const said = await first.next();
    const { signal } = await first.child.status;
    if (said !== undefined) {
      assertEquals(said, "left");
      return undefined;
    }
    assertEquals(signal, "SIGKILL", `at ${moment}`);
    const second = start({ ...settings, does: "look" });
    const found = await second.next();
    await second.child.status;
    const stays = found === "ok";
    if (!stays) {
      assert(found === "ended" || found === "not_found", found);
      await until("the other one is alone", () => channel.members().length === 1);
      assertEquals(channel.members()[0]?.owner, true);
    } else assertEquals(channel.members().length, 2);
    assertEquals(channel.health().issues.filter(({ kind }) => kind === "void_leave"), []);
    return stays ? "stays" : "left";
  } finally {
    for (const { manager } of members) await manager.close();
    await relay.close();
    await Deno.remove(folder, { recursive: true });
  }
}

for (const role of ["owner", "member"] as const) {
  Deno.test(`kill -9 of an agent that leaves, at any write or call: it stays, or the relay knows (${role})`, async () => {
    const ends: string[] = [];
    for (
      let end = await leaves(role, 1);
      end !== undefined;
      end = await leaves(role, ends.length + 1)
    ) ends.push(end);
    console.log(`${role}, with each write: ${ends.join()}`);
    assert(ends.includes("left"), ends.join());
    assertEquals([await leaves(role, "asked"), await leaves(role, "taken")], ["stays", "left"]);
  });
}
