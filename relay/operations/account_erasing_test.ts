/**
 * A deleted account, from the API's word to the bytes on the relay's disk: the real core on a real
 * file, in an hour of simulated time.
 */
import { assert, assertEquals } from "@std/assert";
import type { AccountChanges } from "../../proto/api/changes.ts";
import {
  type AccountId,
  type ChannelId,
  parseAccountId,
  parseChannelName,
} from "../../proto/mod.ts";
import { eventually } from "../../tests/support/mod.ts";
import { Actor, messageRequest } from "../core/testing/actors.ts";
import { refused } from "../core/testing/scene.ts";
import { createWorld, type World } from "../core/testing/world.ts";
import { type Engine, openSqliteEngine } from "../engine/mod.ts";
import { filesContain } from "../engine/testing/files.ts";
import { FollowedAccounts } from "./account_changes.ts";

const minuteMs = 60_000;
const name = parseChannelName("acme/ops/merger-with-globex");

type Follow = (after: number | undefined, signal: AbortSignal) => Promise<AccountChanges>;

/** The API tells this, once, and then nothing. */
function tells(...changes: readonly { account: AccountId; change: "deleted" }[]): Follow {
  return async (after: number | undefined, signal: AbortSignal): Promise<AccountChanges> => {
    const told = changes.map(({ account, change }, index) => ({
      seq: index + 1,
      account_id: account,
      change,
    }));
    if (after === undefined) return { after: 0, suspended: [], deleted: [], changes: [] };
    if (after < told.length) return { after: told.length, changes: told.slice(after) };
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    signal.throwIfAborted();
    return { after, changes: [] };
  };
}

interface Life {
  readonly world: World;
  readonly accounts: FollowedAccounts;
  readonly events: string[];
  close(): Promise<void>;
}

async function live(
  engine: Engine,
  startMs: number | undefined,
  follow: Follow,
): Promise<Life> {
  const world = await createWorld({ engine, ...(startMs !== undefined && { startMs }) });
  const events: string[] = [];
  const accounts = new FollowedAccounts({
    follow,
    core: world.core,
    onLimits: () => {},
    records: engine.records,
    nowMs: world.time.nowMs,
    log: (_, event) => void events.push(event),
  });
  const close = async (): Promise<void> => {
    await accounts.close();
    await world.close();
  };
  return { world, accounts, events, close };
}

/** Passes simulated time until something has happened for which real time is needed too. */
async function pass(life: Life, what: string, isDone: () => Promise<boolean>): Promise<void> {
  await eventually({ what }, async () => {
    await life.world.time.advance(minuteMs);
    return await isDone();
  }, (done) => done);
}

Deno.test("within an hour of its deletion no name and no ciphertext of an account is in the relay's files", async () => {
  const folder = await Deno.makeTempDir({ prefix: "static-erasing-" });
  const path = `${folder}/relay.sqlite`;
  let engine = await openSqliteEngine({ path });
  const nobodyTells = tells();
  let life = await live(engine, undefined, nobodyTells);
  try {
    const alice = await Actor.connect(life.world, 1);
    const [bob, slow] = [await Actor.connect(life.world, 2), await Actor.connect(life.world, 3)];
    const channelId = await alice.createChannel(1, name);
    await alice.commit(channelId, 0, { added: [bob.agentId, slow.agentId] });
    // Of Bob's account, and open: nothing of it may go.
    const ofBob = await bob.createChannel(2, parseChannelName("globex/ops/own"));
    const ciphertexts: string[] = [];
    const send = async (
      by: Actor,
      id: ChannelId,
      epoch: number,
      number: number,
    ): Promise<string> => {
      const request = messageRequest(id, epoch, number, 2_000);
      const ciphertext = crypto.getRandomValues(new Uint8Array(300));
      request.ciphertext.set(ciphertext, request.ciphertext.length - ciphertext.length);
      await by.client.call("SendMessage", request);
      return new TextDecoder("latin1").decode(ciphertext);
    };
    for (let number = 1; number <= 20; number++) {
      ciphertexts.push(await send(alice, channelId, 1, number));
    }
    const kept = await send(bob, ofBob, 0, 1);
    await bob.acknowledge(channelId, 10);
    const found = (): Promise<readonly string[]> => filesContain(folder, [name, ...ciphertexts]);
    assertEquals((await found()).length, 1 + ciphertexts.length);
    // A page that does not read holds nothing up.
    await slow.client.call("Subscribe", { channelId, windowBytes: 1, tag: 1 });

    const account = parseAccountId(alice.accountId);
    const startedMs = life.world.time.nowMs();
    await life.accounts.close();
    await life.world.close();
    await engine.close();
    engine = await openSqliteEngine({ path });
    life = await live(engine, startedMs, tells({ account, change: "deleted" }));
    await bob.reconnect(life.world);
    await slow.reconnect(life.world);
    await bob.client.call("Subscribe", { channelId, windowBytes: 1 << 20, tag: 1 });
    await slow.client.call("Subscribe", { channelId, windowBytes: 1, tag: 1 });
    await pass(
      life,
      "closed",
      () => Promise.resolve(bob.client.pushed("DeliverChannelEnd").length > 0),
    );
    assertEquals(bob.client.pushed("DeliverChannelEnd").map(({ reason }) => reason), ["closed"]);

    // Killed in between: the next life goes on.
    await life.accounts.close();
    const midwayMs = life.world.time.nowMs();
    await life.world.close();
    life = await live(engine, midwayMs, tells({ account, change: "deleted" }));
    await slow.reconnect(life.world);
    await slow.client.call("Subscribe", { channelId, windowBytes: 1, tag: 1 });
    await pass(life, "erased", () => Promise.resolve(life.events.includes("account_erased")));
    await pass(life, "gone from the files", async () => (await found()).length === 0);
    const tookMs = life.world.time.nowMs() - startedMs;
    console.log(`gone after ${tookMs / minuteMs} minutes`);
    assert(tookMs <= 60 * minuteMs, `${tookMs} ms`);
    assertEquals(slow.client.pushed("DeliverChannelEnd").map(({ reason }) => reason), ["closed"]);
    // To somebody who comes later it is as if it had never been.
    await bob.reconnect(life.world);
    await refused("not_found", bob.subscribe(channelId));
    assertEquals(await filesContain(folder, [kept, "globex/ops/own"]), [kept, "globex/ops/own"]);
    assertEquals(await engine.accountBytes(account), 0);
  } finally {
    await life.close();
    await engine.close();
    await Deno.remove(folder, { recursive: true });
  }
});
