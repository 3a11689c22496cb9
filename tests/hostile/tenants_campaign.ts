/**
 * Tenants beside each other: what two do at the limits of their plans must not be felt by a third.
 */
import { assertGreater, assertLess } from "@std/assert";
import { assertServed, siegeMs } from "../support/hostile/held.ts";
import { besiege } from "../support/hostile/mod.ts";
import { anyBackend, signUp } from "../support/api/harness.ts";
import { startProcess } from "../support/api/process.ts";
import type { NoisyReport } from "./attackers/noisy_tenant.ts";

const noisy = new URL("attackers/noisy_tenant.ts", import.meta.url);
/** Delay that a busy machine adds. */
const noiseMs = 50;

Deno.test("two tenants at several times their limits leave a third one's p99 within twice that of peace", async () => {
  const backend = await anyBackend.open();
  await using opened = new AsyncDisposableStack();
  opened.defer(() => backend.close());
  // Small buckets, so that both are at their limits from the first second on.
  await using api = await startProcess({ ...backend.environment, STATIC_RATE_ACCOUNT: "60/3" });
  const tenants = await Promise.all([signUp(api.call), signUp(api.call), signUp(api.call)]);
  const [third, ...others] = tenants.map(({ apiKey }) => apiKey);
  const { peace, siege, reports } = await besiege<NoisyReport>({
    name: "two noisy tenants",
    pid: api.pid,
    everyMs: 100,
    honest: async () => {
      const { status, text } = await api.call("POST", "/v1/tokens", { key: third ?? "" });
      if (status !== 200) throw new Error(`${status} ${text}`);
    },
    attackers: others.map((apiKey, i) => ({
      script: noisy,
      order: { url: api.url, apiKey, localAddress: `127.0.1.${i + 1}`, perSecond: 100 },
    })),
    peaceMs: 3_000,
    siegeMs,
  });
  assertServed({ siege });
  for (const report of reports) assertGreater(report["429"] ?? 0, report["200"] ?? 0);
  assertLess(siege.p99Ms, 2 * Math.max(peace.p99Ms, noiseMs));
});
