/**
 * The sums of what waits for agents stay those of the rows that they are of, whatever happens to
 * channels.
 */
import { assert, assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { createRandom, seedFromEnvironment } from "../../tests/support/mod.ts";
import type { ChannelId } from "../../proto/mod.ts";
import type { Engine } from "./engine.ts";
import { openSqliteEngine } from "./sqlite.ts";
import {
  commit,
  createChannel,
  message,
  sampleAccount,
  sampleAgent,
  sampleChannelId,
} from "./testing/sample.ts";

const sums = "SELECT agent, account, channels, bytes FROM waiting ORDER BY agent, account";
const counted = `
  SELECT agent, joining AS account, count(*) AS channels, sum(welcome_bytes) AS bytes FROM cursor
  WHERE joining IS NOT NULL GROUP BY agent, joining ORDER BY agent, joining`;

function ask(path: string, sql: string): unknown[] {
  const sqlite = new DatabaseSync(path);
  try {
    return sqlite.prepare(sql).all();
  } finally {
    sqlite.close();
  }
}

async function inFolder(test: (path: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "static-engine-waiting-" });
  try {
    await test(`${folder}/relay.sqlite`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** One thing that may happen to a channel and an agent. */
async function happen(
  engine: Engine,
  channelId: ChannelId,
  random: ReturnType<typeof createRandom>,
): Promise<void> {
  const agentId = sampleAgent(10 + random.below(4));
  const { epoch = 0, head = 0 } = await engine.findChannel(channelId) ?? {};
  const welcomeBytes = new Map([[agentId, random.below(1_000)]]);
  const key = String(random.uint32());
  switch (random.below(7)) {
    case 0:
    case 1:
      return void await engine.append(
        channelId,
        commit(key, epoch, { added: [agentId], welcomeBytes }),
      );
    case 2:
      return void await engine.append(channelId, commit(key, epoch, { removed: [agentId] }));
    case 3:
      return void await engine.append(
        channelId,
        message(key, { kind: "welcome", epoch, welcomeBytes }),
      );
    case 4:
      return await engine.moveCursors(channelId, [[agentId, {
        consumed: head,
        acknowledged: head,
      }]]);
    case 5:
      return await engine.dropCursor(channelId, agentId);
    default:
      if (!random.chance(0.1)) return;
      await engine.append(channelId, message(key, { kind: "close", epoch }));
      if (random.chance(0.5)) await engine.purge(channelId);
  }
}

Deno.test("the sums of what waits are those of the cursors after any history", () =>
  inFolder(async (path) => {
    const random = createRandom(seedFromEnvironment());
    const engine = await openSqliteEngine({ path });
    const channels = await Promise.all(
      Array.from(
        { length: 12 },
        (_, i) => createChannel(engine, i + 1, { account: sampleAccount(i % 3) }),
      ),
    );
    for (let step = 0; step < 400; step++) {
      await happen(engine, channels[random.below(channels.length)] ?? sampleChannelId(1), random);
    }
    const agentId = sampleAgent(20);
    const open = await createChannel(engine, 99, { account: sampleAccount(1) });
    const waits = { added: [agentId], welcomeBytes: new Map([[agentId, 7]]) };
    await engine.append(open, commit("last", 0, waits));
    await engine.close();
    assert(ask(path, counted).length > 0);
    assertEquals(ask(path, sums), ask(path, counted), `STATIC_TEST_SEED=${random.seed}`);
  }));
