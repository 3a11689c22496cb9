/**
 * Guesses of passwords and the honest work that needs Argon2id too: sign-ups, and keys that this
 * process has not seen yet.
 */
import { assertEquals, assertLess } from "@std/assert";
import { assertPrompt, assertRecovered, assertServed, siegeMs } from "../support/hostile/held.ts";
import { besiege } from "../support/hostile/mod.ts";
import { addressOf, createNewcomers } from "../support/hostile/newcomers.ts";
import { anyBackend, signUp, type TestApi } from "../support/api/harness.ts";
import { startProcess } from "../support/api/process.ts";
import type { GuesserReport } from "./attackers/password_guesser.ts";

const guesser = new URL("attackers/password_guesser.ts", import.meta.url);
/** As in production, where the harness has light ones. */
const production = {
  STATIC_PASSWORD_ARGON2: "m=19456,t=2,p=1",
  STATIC_RATE_FAILURES: "30/60",
};

Deno.test("twelve addresses with wrong passwords stop neither sign-ups nor keys that were not seen before", async () => {
  const backend = await anyBackend.open();
  await using opened = new AsyncDisposableStack();
  opened.defer(() => backend.close());
  await using api = await startProcess({
    ...backend.environment,
    ...production,
    STATIC_KEY_MEMORY: "0",
  });
  const { apiKey } = await signUp(api.call);
  let calls = 0;
  const siege = await besiege<GuesserReport>({
    name: "wrong passwords from 12 addresses",
    pid: api.pid,
    everyMs: 200,
    honest: async () => {
      // Below the share of one address among thirteen, of what one worker can do.
      if (calls++ % 10 === 0) return void await signUp(api.call);
      const { status, text } = await api.call("GET", "/v1/usage", { key: apiKey });
      if (status !== 200) throw new Error(`a cold key: ${status} ${text}`);
    },
    attackers: [{
      script: guesser,
      order: {
        ...{ url: api.url, parallel: 20, pauseMs: 0 },
        addresses: Array.from({ length: 12 }, (_, i) => `127.0.1.${i + 1}`),
      },
    }],
    siegeMs,
  });
  assertServed(siege);
  // Each password takes 19 MiB, which is given back when the collector comes by.
  assertLess(siege.peakBytes - siege.idleBytes, 400 * 2 ** 20, "the service's memory grew");
  assertRecovered(siege);
});

/** How long one password takes this service on this machine, at least. */
async function passwordMs({ call }: Pick<TestApi, "call">): Promise<number> {
  const times: number[] = [];
  while (times.length < 5) {
    const began = performance.now();
    await signUp(call);
    times.push(performance.now() - began);
  }
  return Math.min(...times);
}

/**
 * Addresses that have not guessed yet are like honest ones. Each guess takes one worker as long as
 * a password takes there, so that all have had theirs after as many of these times as there are
 * addresses; most lose their place in the queue to others before that, which counts as much.
 */
for (const addresses of [200, 1_000]) {
  Deno.test(`${addresses} addresses with wrong passwords, 400 a second, stop neither logins nor sign-ups`, async () => {
    const backend = await anyBackend.open();
    await using opened = new AsyncDisposableStack();
    opened.defer(() => backend.close());
    await using api = await startProcess({
      ...backend.environment,
      ...production,
      STATIC_MAX_KEYS: "10000",
    });
    const siege = await besiege<GuesserReport>({
      name: `wrong passwords from ${addresses} addresses`,
      pid: api.pid,
      everyMs: 500,
      peaceMs: 10_000,
      honest: await createNewcomers({ url: api.url, passwordsEvery: 2 }),
      attackers: [{
        script: guesser,
        order: {
          ...{ url: api.url, parallel: 1, pauseMs: addresses * 1_000 / 400 },
          addresses: Array.from({ length: addresses }, (_, index) => addressOf(1, index)),
        },
      }],
      beginningMs: addresses * await passwordMs(api),
      siegeMs,
    });
    assertServed(siege);
    assertPrompt(siege);
    assertLess(siege.peakBytes - siege.idleBytes, 400 * 2 ** 20, "the service's memory grew");
    assertRecovered(siege);
  });
}

Deno.test("sixty good keys at once from one address, right after a restart, are all accepted", async () => {
  const backend = await anyBackend.open();
  await using opened = new AsyncDisposableStack();
  opened.defer(() => backend.close());
  const keys: string[] = [];
  {
    await using api = await startProcess(backend.environment);
    const { apiKey } = await signUp(api.call);
    keys.push(apiKey);
    while (keys.length < 60) {
      keys.push((await api.call("POST", "/v1/keys", { key: apiKey })).json.key);
    }
  }
  await using again = await startProcess({ ...backend.environment, ...production });
  const startedMs = performance.now();
  const answers = await Promise.all(keys.map((key) => again.call("POST", "/v1/tokens", { key })));
  console.log(
    `60 cold keys at once: the last after ${(performance.now() - startedMs).toFixed(0)} ms`,
  );
  assertEquals(answers.filter(({ status }) => status !== 200).map(({ text }) => text), []);
});
