/** Leases: a charge and its entry are one, never above what was granted, none after the stop. */
import { assertEquals, assertRejects } from "@std/assert";
import { EngineError } from "../errors.ts";
import type { ContractTest } from "./contract.ts";
import { createChannel, message, sampleLease } from "./sample.ts";

const charge = { leaseId: "lease-1", fence: 7, messages: 1, payloadBytes: 100 };

export function leaseContract(test: ContractTest): void {
  test("append() charges the lease with the entry, and never above what was granted", async (engine) => {
    const channelId = await createChannel(engine, 1);
    await engine.leases.open(sampleLease({ granted: 30 }));
    const outcomes = await Promise.all(
      Array.from({ length: 200 }, (_, i) => engine.append(channelId, message(`${i}`, { charge }))),
    );
    assertEquals(outcomes.filter(({ kind }) => kind === "appended").length, 30);
    assertEquals(outcomes.filter(({ kind }) => kind === "lease_spent").length, 170);
    const state = { ...sampleLease({ granted: 30 }), consumed: 30, payloadBytes: 3000 };
    assertEquals(await engine.leases.list(), [state]);
    assertEquals((await engine.queueSize(channelId)).messages, 30);
  });

  test("duplicates, conflicts and entries without a charge cost nothing", async (engine) => {
    const channelId = await createChannel(engine, 1);
    await engine.leases.open(sampleLease());
    await engine.append(channelId, message("a", { charge }));
    await engine.append(channelId, message("a", { charge }));
    await engine.append(channelId, message("b", { charge, epoch: 4 }));
    await engine.append(channelId, message("c"));
    assertEquals((await engine.leases.list())[0]?.consumed, 1);
  });

  test("append() refuses another fence, an unknown lease, and a lease that was stopped", async (engine) => {
    const channelId = await createChannel(engine, 1);
    await engine.leases.open(sampleLease());
    const spent = { kind: "lease_spent" } as const;
    assertEquals(
      await engine.append(channelId, message("a", { charge: { ...charge, fence: 6 } })),
      spent,
    );
    assertEquals(
      await engine.append(channelId, message("a", { charge: { ...charge, leaseId: "other" } })),
      spent,
    );
    await engine.append(channelId, message("a", { charge }));
    assertEquals(await engine.leases.stop("lease-1"), {
      ...sampleLease(),
      consumed: 1,
      payloadBytes: 100,
    });
    assertEquals(await engine.append(channelId, message("b", { charge })), spent);
    assertEquals((await engine.findChannel(channelId))?.head, 1);
  });

  test("leases.stop() answers final numbers, whatever is under way", async (engine) => {
    const channelId = await createChannel(engine, 1);
    await engine.leases.open(sampleLease({ granted: 1000 }));
    const before = Array.from(
      { length: 50 },
      (_, i) => engine.append(channelId, message(`${i}`, { charge })),
    );
    const stopped = engine.leases.stop("lease-1");
    const after = Array.from(
      { length: 50 },
      (_, i) => engine.append(channelId, message(`late ${i}`, { charge })),
    );
    assertEquals((await stopped)?.consumed, 50);
    assertEquals((await Promise.all(before)).every(({ kind }) => kind === "appended"), true);
    assertEquals((await Promise.all(after)).every(({ kind }) => kind === "lease_spent"), true);
    assertEquals(await engine.leases.stop("lease-1"), await stopped);
  });

  test("leases.open() twice keeps the count, and refuses the lease under another fence", async (engine) => {
    const channelId = await createChannel(engine, 1);
    await engine.leases.open(sampleLease());
    await engine.append(channelId, message("a", { charge }));
    await engine.leases.open(sampleLease());
    assertEquals((await engine.leases.list())[0]?.consumed, 1);
    const error = await assertRejects(
      () => engine.leases.open(sampleLease({ fence: 8 })),
      EngineError,
    );
    assertEquals(error.code, "invalid");
    await assertRejects(
      () => engine.leases.open(sampleLease({ leaseId: "x", granted: -1 })),
      EngineError,
    );
  });

  test("leases.forget() removes a lease; what is unknown is not an error", async (engine) => {
    await engine.leases.open(sampleLease());
    await engine.leases.open(sampleLease({ leaseId: "lease-2" }));
    await engine.leases.forget("lease-1");
    await engine.leases.forget("lease-1");
    assertEquals((await engine.leases.list()).map(({ leaseId }) => leaseId), ["lease-2"]);
    assertEquals(await engine.leases.stop("lease-1"), undefined);
  });
}
