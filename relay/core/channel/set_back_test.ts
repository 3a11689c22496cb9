/**
 * A log that was set back: its members put commits back into it, as they were signed, and positions
 * of the log before are void.
 */
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { agentIdOf, type RequestBody } from "../../../proto/mod.ts";
import { copyKey, openSqliteEngine } from "../../engine/mod.ts";
import { type Actor, commitRequest } from "../testing/actors.ts";
import { createPair, createReadingPair, createTrio, refused, worldTest } from "../testing/scene.ts";
import { settle } from "../testing/simulated_time.ts";
import { createWorld } from "../testing/world.ts";

const authorOf = ({ agent }: Actor): NonNullable<RequestBody<"SendCommit">["author"]> => ({
  signatureKey: agent.publicKey,
  identity: agent.identity,
});

worldTest(
  "a commit is put back by a member that did not make it, and stands there as its author's",
  async (world) => {
    const { alice, bob, carol, channelId } = await createTrio(world);
    const made = commitRequest(channelId, 2, { sender: alice.agent, salt: 1 }, {});
    const send = (change: Partial<RequestBody<"SendCommit">>): Promise<unknown> =>
      bob.client.call("SendCommit", { ...made, author: authorOf(alice), ...change });
    await refused("invalid_request", bob.client.call("SendCommit", made));
    await refused("invalid_request", send({ author: authorOf(bob) }));
    await refused("invalid_request", send({ added: [carol.agentId] }));
    await refused(
      "invalid_request",
      send({ welcomes: [{ recipients: [carol.agentId], welcome: new Uint8Array(40) }] }),
    );
    const elsewhere = commitRequest(channelId, 2, { sender: alice.agent, salt: 2 }, {
      state: made.nextState,
    });
    await refused("state_conflict", send(elsewhere));
    assertEquals(agentIdOf(alice.agent.publicKey, alice.agent.identity), alice.agentId);
    await send({});
    await settle();
    const [delivered] = carol.client.pushed("DeliverCommit");
    assertEquals([delivered?.sender, delivered?.signature], [alice.agentId, made.signature]);
    assertEquals(alice.client.pushed("DeliverCommit"), []);
    await refused(
      "epoch_conflict",
      send(commitRequest(channelId, 2, { sender: alice.agent, salt: 3 }, {})),
    );
  },
);

worldTest(
  "a removal by a member that owns nothing is put back by an owner alone",
  async (world) => {
    const { alice, bob, carol, channelId } = await createTrio(world);
    const made = commitRequest(channelId, 2, { sender: bob.agent, salt: 1 }, {
      removed: [carol.agentId],
    });
    await refused("not_allowed", bob.client.call("SendCommit", made));
    await refused(
      "not_allowed",
      carol.client.call("SendCommit", { ...made, author: authorOf(bob) }),
    );
    await alice.client.call("SendCommit", { ...made, author: authorOf(bob) });
    assertEquals((await alice.client.call("ListMembers", { channelId })).members.length, 2);
    // Its author is a member no more.
    const next = commitRequest(channelId, 3, { sender: carol.agent, salt: 1 }, {});
    await refused(
      "not_allowed",
      alice.client.call("SendCommit", { ...next, author: authorOf(carol) }),
    );
  },
);

worldTest(
  "a relay whose log is first asked for while it is backed up keeps it, and its copy is known as one",
  async (world) => {
    const { alice, channelId } = await createPair(world);
    const mark = { value: new Uint8Array(1), expiresAtMs: world.time.nowMs() + 60_000 };
    await world.engine.records.put(copyKey, mark, 0);
    const { log } = await alice.subscribe(channelId);
    assertEquals(log, new Uint8Array(8));
    assert(
      await world.engine.records.get(copyKey) !== undefined,
      "as backUp() needs it until it is done",
    );
  },
);

worldTest(
  "that a member came back is put back by anybody, while that member asks to come back",
  async (world) => {
    const { alice, bob, carol, channelId } = await createTrio(world);
    const lists = { added: [alice.agentId], removed: [alice.agentId] };
    const made = commitRequest(channelId, 2, { sender: bob.agent, salt: 1 }, lists);
    const putBack = (): Promise<unknown> =>
      carol.client.call("SendCommit", { ...made, welcomes: [], author: authorOf(bob) });
    await refused("not_allowed", putBack());
    await alice.client.call("RequestRejoin", alice.rejoin(channelId));
    // A new one answers the request, and nothing else.
    await refused("not_allowed", bob.client.call("SendCommit", made));
    await putBack();
  },
);

worldTest("a commit is put back also when its author has left since", async (world) => {
  const { bob, carol, channelId } = await createTrio(world);
  const made = commitRequest(channelId, 2, { sender: bob.agent, salt: 1 }, {});
  await bob.leave(channelId);
  await carol.client.call("SendCommit", { ...made, author: authorOf(bob) });
});

Deno.test("a relay that was put back from its backup has another log, also once it was started again", async () => {
  const folder = await Deno.makeTempDir({ prefix: "static-log-id-" });
  const logIds: string[] = [];
  try {
    for (
      const [from, to] of [["relay", "copy"], ["relay", undefined], ["copy", undefined], [
        "copy",
        undefined,
      ]] as const
    ) {
      const engine = await openSqliteEngine({ path: `${folder}/${from}.sqlite` });
      const world = await createWorld({ engine });
      const { alice, channelId } = await createReadingPair(world);
      const { log } = await alice.subscribe(channelId);
      assert(log !== undefined);
      logIds.push(log.join());
      const position = { channelId, after: 1, windowBytes: 1, tag: 2 };
      await alice.client.call("Subscribe", { ...position, log });
      await refused(
        "cursor_invalid",
        alice.client.call("Subscribe", { ...position, log: log.map((byte) => byte ^ 1) }),
      );
      if (to !== undefined) await engine.backUp(`${folder}/${to}.sqlite`, 1);
      await world.close();
      await engine.close();
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
  const [first, again, restored, restarted] = logIds;
  assertEquals([first, restored], [again, restarted]);
  assertNotEquals(first, restored);
});
