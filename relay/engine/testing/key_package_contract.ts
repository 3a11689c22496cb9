/**
 * KeyPackage pools: single use under any number of claims, repeatable claims, last resort, expiry.
 */
import { assertEquals, assertExists, assertRejects } from "@std/assert";
import { parseKeyId } from "../../../proto/mod.ts";
import { inCampaign } from "../../../tests/support/campaign.ts";
import type { KeyPackagePools, PoolUpload } from "../engine.ts";
import { EngineError } from "../errors.ts";
import type { ContractTest } from "./contract.ts";
import { sampleAccount, sampleAgent, samplePackage } from "./sample.ts";

const agentId = sampleAgent(1);
const nowMs = 1000;

function upload(numbers: readonly number[], changes: Partial<PoolUpload> = {}): PoolUpload {
  const keyPackages = numbers.map((n) => samplePackage(n));
  const room = {
    account: sampleAccount(1),
    bytesPerAccount: 1_000_000,
    bytesGuaranteed: 0,
    bytesInAll: 1_000_000,
  };
  return { keyPackages, replace: false, capacity: 100, nowMs, ...room, ...changes };
}

async function claim(
  pools: KeyPackagePools,
  key: string,
  atMs = nowMs,
): Promise<number | undefined> {
  return (await pools.claim(agentId, { key, nowMs: atMs }))?.keyPackage.at(-1);
}

export function keyPackageContract(test: ContractTest): void {
  test("keyPackages: 100 parallel claims of the last one have one winner", async ({ keyPackages }) => {
    await keyPackages.put(agentId, upload([1]));
    const claims = await Promise.all(
      Array.from(
        { length: 100 },
        (_, i) => keyPackages.claim(agentId, { key: `claim ${i}`, nowMs }),
      ),
    );
    assertEquals(claims.filter((claimed) => claimed !== undefined).length, 1);
    assertEquals(await keyPackages.count(agentId, nowMs), {
      keyPackages: 0,
      filled: 1,
      hasLastResort: false,
    });
  });

  test("keyPackages: the first uploaded is claimed first, and the same claim gets the same answer", async ({ keyPackages }) => {
    await keyPackages.put(agentId, upload([1, 2, 3]));
    assertEquals(await claim(keyPackages, "a"), 1);
    assertEquals(await claim(keyPackages, "b"), 2);
    assertEquals(await claim(keyPackages, "a"), 1);
    const again = await keyPackages.claim(agentId, { key: "b", nowMs });
    assertEquals(again?.remaining, { keyPackages: 1, filled: 3, hasLastResort: false });
  });

  test("keyPackages: what was claimed is not taken again, until it expires anyway", async ({ keyPackages }) => {
    await keyPackages.put(agentId, upload([1, 2]));
    assertEquals(await claim(keyPackages, "a"), 1);
    assertEquals((await keyPackages.put(agentId, upload([1, 2, 3]))).keyPackages, 2);
    assertEquals((await keyPackages.put(agentId, upload([1], { replace: true }))).keyPackages, 0);
    assertEquals(
      (await keyPackages.put(agentId, upload([], { lastResort: samplePackage(1) }))).hasLastResort,
      false,
    );
    await keyPackages.expire(10_000);
    assertEquals((await keyPackages.put(agentId, upload([1], { nowMs: 10_000 }))).keyPackages, 0);
  });

  test("keyPackages: an empty pool serves the last resort, marked as such, as often as asked", async ({ keyPackages }) => {
    assertEquals(await keyPackages.claim(agentId, { key: "a", nowMs }), undefined);
    const count = await keyPackages.put(agentId, upload([1], { lastResort: samplePackage(9) }));
    assertEquals(count, { keyPackages: 1, filled: 1, hasLastResort: true });
    assertEquals((await keyPackages.claim(agentId, { key: "a", nowMs }))?.lastResort, false);
    for (const key of ["b", "c"]) {
      const claimed = await keyPackages.claim(agentId, { key, nowMs });
      assertEquals([claimed?.lastResort, claimed?.keyPackage.at(-1)], [true, 9]);
    }
    assertEquals((await keyPackages.put(agentId, upload([2]))).hasLastResort, true);
    assertEquals(await claim(keyPackages, "b"), 9);
    assertEquals(await claim(keyPackages, "d"), 2);
  });

  test("keyPackages: a pool holds its capacity; replacing empties it first", async ({ keyPackages }) => {
    const full = await keyPackages.put(
      agentId,
      upload([1, 2, 3], { capacity: 2, lastResort: samplePackage(9) }),
    );
    assertEquals(full, { keyPackages: 2, filled: 2, hasLastResort: true });
    assertEquals((await keyPackages.put(agentId, upload([4], { capacity: 2 }))).keyPackages, 2);
    assertEquals((await keyPackages.put(agentId, upload([1, 1], { capacity: 3 }))).keyPackages, 2);
    assertEquals(await keyPackages.put(agentId, upload([5], { capacity: 2, replace: true })), {
      keyPackages: 1,
      filled: 1,
      hasLastResort: false,
    });
    assertEquals(await claim(keyPackages, "a"), 5);
  });

  test("keyPackages: nothing expired is counted, stored or given away", async ({ keyPackages }) => {
    await keyPackages.put(
      agentId,
      upload([], { keyPackages: [samplePackage(1, 2000), samplePackage(2, 3000)] }),
    );
    assertEquals((await keyPackages.count(agentId, 1999)).keyPackages, 2);
    assertEquals((await keyPackages.count(agentId, 2000)).keyPackages, 1);
    assertEquals(await claim(keyPackages, "a", 2000), 2);
    assertEquals((await keyPackages.put(agentId, upload([3], { nowMs: 10_000 }))).keyPackages, 0);
    assertEquals(await claim(keyPackages, "a", 3000), undefined);
    await keyPackages.put(agentId, upload([4], { lastResort: samplePackage(5, 4000) }));
    await keyPackages.expire(4000);
    assertEquals(await keyPackages.count(agentId, 0), {
      keyPackages: 1,
      filled: 1,
      hasLastResort: false,
    });
  });

  test("keyPackages: pools of agents are apart, and remembered claims are bounded", async ({ keyPackages }) => {
    await keyPackages.put(agentId, upload([1], { lastResort: samplePackage(9) }));
    assertEquals(await keyPackages.claim(sampleAgent(2), { key: "a", nowMs }), undefined);
    assertEquals(await claim(keyPackages, "first"), 1);
    for (let i = 0; i < 2000; i++) assertExists(await claim(keyPackages, `claim ${i}`));
    assertEquals(await claim(keyPackages, "first"), 9);
    await assertRejects(() => keyPackages.claim(agentId, { key: "", nowMs }), EngineError);
    await assertRejects(() => keyPackages.put(agentId, upload([1], { capacity: -1 })), EngineError);
  });

  test("keyPackages: the account that has most gives way, with its last resorts when nothing else is left", async ({ keyPackages }) => {
    const bytes = samplePackage(1).bytes.length;
    const room = { bytesGuaranteed: 3 * bytes, bytesInAll: 12 * bytes };
    const put = async (agent: number, account: number, numbers: number[]): Promise<void> => {
      const changes = { account: sampleAccount(account), lastResort: samplePackage(9), ...room };
      await keyPackages.put(sampleAgent(agent), upload(numbers, changes));
    };
    const count = async (agent: number): Promise<string> => {
      const { keyPackages: left, hasLastResort } = await keyPackages.count(
        sampleAgent(agent),
        nowMs,
      );
      return `${left}${hasLastResort ? "+" : ""}`;
    };
    await put(1, 1, [1, 2]);
    for (let agent = 10; agent < 15; agent++) await put(agent, 5, []);
    await put(2, 2, [1, 2, 3]);
    // Invented agents with nothing but a last resort go first, down to what is guaranteed, then
    // single-use ones of the next.
    await put(3, 3, [1, 2]);
    assertEquals(await Promise.all([1, 2, 3].map(count)), ["2+", "0+", "2+"]);
    assertEquals(await Promise.all([10, 11, 12, 13, 14].map(count)), ["0", "0", "0+", "0+", "0+"]);
    // When nobody has more than what is guaranteed, a newcomer finds no more room, and nobody else
    // loses anything.
    await put(4, 4, [1, 2]);
    assertEquals(await Promise.all([1, 2, 3, 4].map(count)), ["2+", "0+", "2+", "0+"]);
    assertEquals(await Promise.all([12, 13, 14].map(count)), ["0+", "0+", "0+"]);
  });

  test("keyPackages: many invented agents of few accounts cost others nothing, and little time", async ({ keyPackages }) => {
    const bytes = samplePackage(1).bytes.length;
    const agents = inCampaign ? 10_000 : 1_000;
    const room = {
      bytesPerAccount: agents / 5 * bytes,
      bytesGuaranteed: 10 * bytes,
      bytesInAll: agents * 3 / 5 * bytes,
    };
    await keyPackages.put(agentId, upload([1, 2, 3], { ...room, lastResort: samplePackage(9) }));
    const invented = Array.from({ length: agents }, (_, i) => 2 + i);
    await Promise.all(invented.map((agent) => {
      const account = sampleAccount(2 + agent % 4);
      return keyPackages.put(
        sampleAgent(agent),
        upload([], { ...room, account, lastResort: samplePackage(9) }),
      );
    }));
    assertEquals(await keyPackages.count(agentId, nowMs), {
      keyPackages: 3,
      filled: 3,
      hasLastResort: true,
    });
  });

  test("keyPackages: an account that uploads too much loses its own oldest pools, and no more", async ({ keyPackages }) => {
    const bytes = samplePackage(1).bytes.length;
    const put = (
      agent: number,
      account: number,
      changes: Partial<PoolUpload> = {},
    ): Promise<unknown> =>
      keyPackages.put(
        sampleAgent(agent),
        upload([1, 2], { account: sampleAccount(account), ...changes }),
      );
    const counts = (): Promise<number[]> =>
      Promise.all(
        [1, 2, 3, 4].map(async (agent) =>
          (await keyPackages.count(sampleAgent(agent), nowMs)).keyPackages
        ),
      );
    const limits = { bytesPerAccount: 4 * bytes };
    await put(1, 1);
    await put(2, 2);
    await put(3, 2);
    await put(4, 2, limits);
    assertEquals(await counts(), [2, 0, 2, 2]);
    // Claimed KeyPackages that may be asked for again count too.
    await keyPackages.claim(sampleAgent(3), { key: "a", nowMs });
    await put(2, 2, limits);
    assertEquals(await counts(), [2, 2, 0, 2]);
    await put(3, 3, { bytesInAll: 6 * bytes });
    assertEquals(await counts(), [2, 2, 1, 0]);
    // One that goes on to another account no longer counts for the first, and what expires counts
    // for nobody.
    await put(2, 3, limits);
    assertEquals(await keyPackages.ownerOf(sampleAgent(2)), sampleAccount(3));
    await keyPackages.expire(10_000);
    await put(1, 2, { ...limits, nowMs });
    assertEquals(await counts(), [2, 0, 0, 0]);
  });

  test("keyPackages.put() empties pools of the same key first, and none of the account's others for it", async ({ keyPackages }) => {
    const bytes = samplePackage(1).bytes.length;
    const id = parseKeyId("5f0c3c1e-8d6b-4e0e-9f0a-2f6f7c1f9a11");
    const put = (agent: number, changes: Partial<PoolUpload> = {}): Promise<unknown> =>
      keyPackages.put(
        sampleAgent(agent),
        upload([1, 2], { account: sampleAccount(1), ...changes }),
      );
    await put(1);
    for (const agent of [2, 3, 4]) {
      await put(agent, { key: { id, bytes: 4 * bytes }, bytesPerAccount: 6 * bytes });
    }
    const counts = [1, 2, 3, 4].map(async (agent) =>
      (await keyPackages.count(sampleAgent(agent), nowMs)).keyPackages
    );
    assertEquals(await Promise.all(counts), [2, 0, 2, 2]);
  });
}
