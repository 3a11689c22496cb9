import { assert, assertEquals, assertRejects } from "@std/assert";
import type { QueueParty } from "../domain/deps.ts";
import { Fault } from "../domain/fault.ts";
import { Secret } from "../../server/mod.ts";
import { hashSecret, verifySecret } from "./argon2.ts";
import { createHashingPool, type HashingPool, platformWorker } from "./pool.ts";

const profile = { memoryKiB: 64, iterations: 1, parallelism: 1 };
const createWorker = platformWorker();
const stranger = (key: string): QueueParty => ({ key, isKnown: false });
const client = stranger("client");

async function withPool(
  options: {
    workers?: number;
    queueLimit?: number;
    createWorker?: (() => Worker) | undefined;
    workerMs?: number;
  },
  use: (pool: HashingPool) => Promise<void>,
): Promise<void> {
  const pool = createHashingPool({ workers: 1, queueLimit: 10, createWorker, ...options });
  try {
    await use(pool);
  } finally {
    pool.close();
  }
}

Deno.test("verifySecret() accepts the reference implementation's hash", async () => {
  const reference =
    "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";
  assert(await verifySecret("password", reference));
  assert(!await verifySecret("passwore", reference));
});

Deno.test("a hash verifies its secret and no other, and text that is no hash verifies nothing", async () => {
  const hash = await hashSecret("correct", profile);
  assert(await verifySecret("correct", hash));
  assert(!await verifySecret("Correct", hash));
  for (
    const text of [
      "",
      "correct",
      hash.slice(0, -1),
      hash.replace("argon2id", "argon2i"),
      `${hash}x`,
    ]
  ) {
    assert(!await verifySecret("correct", text), text);
  }
});

for (const [name, workers] of [["workers", createWorker], ["this thread", undefined]] as const) {
  Deno.test(`hashing in ${name} answers many jobs, each with its own result`, async () => {
    await withPool({ workers: 2, queueLimit: 100, createWorker: workers }, async (pool) => {
      const hasher = pool.hasher(profile);
      const secrets = Array.from({ length: 20 }, (_, i) => new Secret(`secret ${i}`));
      const hashes = await Promise.all(secrets.map((secret) => hasher.hash(secret, client)));
      assertEquals(new Set(hashes).size, 20);
      const right = await Promise.all(
        secrets.map((secret, i) => hasher.verify(secret, hashes[i], client)),
      );
      const wrong = await Promise.all(
        secrets.map((secret, i) => hasher.verify(secret, hashes[(i + 1) % 20], client)),
      );
      assertEquals([right.every(Boolean), wrong.some(Boolean)], [true, false]);
      assertEquals(await hasher.verify(new Secret("anything"), undefined, client), false);
    });
  });
}

Deno.test("a full queue refuses at once with overloaded and Retry-After, and serves again when it has room", async () => {
  await withPool({ queueLimit: 4 }, async (pool) => {
    const hasher = pool.hasher(profile);
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, () => hasher.hash(new Secret("x"), client)),
    );
    assertEquals(results.filter(({ status }) => status === "fulfilled").length, 3);
    for (const result of results) {
      if (result.status === "fulfilled") continue;
      assert(result.reason instanceof Fault && result.reason.code === "overloaded");
      assertEquals(result.reason.retryAfterSeconds, 1);
    }
    assert((await hasher.hash(new Secret("x"), client)).startsWith("$argon2id$"));
  });
});

Deno.test("a client that fills the queue gives way to another, and is told that it was its own crowd", async () => {
  await withPool({ queueLimit: 6 }, async (pool) => {
    const hasher = pool.hasher(profile);
    const crowd = Promise.allSettled(
      Array.from({ length: 5 }, () => hasher.hash(new Secret("x"), stranger("crowd"))),
    );
    const order: string[] = [];
    const others = ["a", "b"].map((name) =>
      hasher.hash(new Secret("x"), stranger(name)).then(() => order.push(name))
    );
    await Promise.all(others);
    const refused = (await crowd).filter((result) => result.status === "rejected").map((
      { reason },
    ) => reason);
    assertEquals(refused.map((fault) => fault instanceof Fault && fault.isCallersOwn), [
      true,
      true,
      true,
    ]);
    assertEquals(order, ["a", "b"]);
  });
});

/** Works on jobs in the order in which it gets them, and says which. */
async function orderOf(
  jobs: readonly (readonly [name: string, job: Promise<unknown>])[],
): Promise<string[]> {
  const order: string[] = [];
  await Promise.all(
    jobs.map(([name, job]) =>
      job.then(() => order.push(name), () => order.push(`${name} refused`))
    ),
  );
  return order;
}

Deno.test("guesses of many parties keep no stranger out, and it does not wait for them", async () => {
  const guessers = Array.from({ length: 40 }, (_, index) => stranger(`guesser ${index}`));
  await withPool({ queueLimit: 8 }, async (pool) => {
    const hasher = pool.hasher(profile);
    const guess = (party: QueueParty): Promise<boolean> =>
      hasher.verify(new Secret("wrong"), undefined, party);
    for (const guesser of guessers) assertEquals(await guess(guesser), false);
    const guesses = guessers.map((guesser) => ["guess", guess(guesser)] as const);
    const order = await orderOf([...guesses, [
      "newcomer",
      hasher.hash(new Secret("x"), stranger("newcomer")),
    ]]);
    const served = order.filter((name) => !name.endsWith(" refused"));
    // The first one ran when the newcomer came.
    assertEquals(served, ["guess", "newcomer", "guess", "guess", "guess"]);
  });
});

Deno.test("known parties have half of the places, and every second turn", async () => {
  await withPool({ queueLimit: 8 }, async (pool) => {
    const hasher = pool.hasher(profile);
    const hash = (name: string, isKnown: boolean): Promise<string> =>
      hasher.hash(new Secret("x"), { key: name, isKnown });
    const strangers = Array.from(
      { length: 5 },
      (_, index) => ["stranger", hash(`${index}`, false)] as const,
    );
    const known = Array.from(
      { length: 4 },
      (_, index) => ["known", hash(`${index}`, true)] as const,
    );
    assertEquals(await orderOf([...strangers, ...known]), [
      "stranger",
      ...["known", "stranger", "known", "stranger", "known", "stranger", "known", "stranger"],
    ]);
  });
});

Deno.test("a worker that dies fails its job and is replaced", async () => {
  const dying =
    "data:application/javascript,self.onmessage = () => { throw new Error('out of memory') }";
  let made = 0;
  const sometimes = (): Worker => {
    if (++made === 1) return new Worker(dying, { type: "module" });
    if (createWorker === undefined) throw new Error("this test needs workers");
    return createWorker();
  };
  await withPool({ createWorker: sometimes }, async (pool) => {
    const hasher = pool.hasher(profile);
    await assertRejects(() => hasher.hash(new Secret("x"), client), Error, "the worker died");
    assert((await hasher.hash(new Secret("x"), client)).startsWith("$argon2id$"));
  });
  assertEquals(made, 2);
});

Deno.test("a worker that does not answer fails its job and is replaced", async () => {
  const deaf = (): Worker =>
    new Worker("data:text/javascript,self.onmessage = () => {}", { type: "module" });
  const [first, ...others] = [deaf, createWorker].filter((create) => create !== undefined);
  assert(first !== undefined);
  const workers = [first, ...others];
  const next = (): Worker => (workers.length > 1 ? workers.shift() : workers[0])?.() ?? deaf();
  await withPool({ createWorker: next, workerMs: 5_000 }, async (pool) => {
    const hasher = pool.hasher(profile);
    await assertRejects(
      () => hasher.hash(new Secret("a"), client),
      Error,
      "the worker has not answered for 5 s",
    );
    assert((await hasher.hash(new Secret("b"), client)).startsWith("$argon2id$"));
  });
});
