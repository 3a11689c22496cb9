/**
 * Groups behave identically everywhere: from one seed, every runtime makes the same commits,
 * messages and secrets.
 */
import {
  type Agent,
  createSignatures,
  createWebCryptoEd25519,
  World,
} from "../../sdk/mls/testing/world.ts";
import { createRandom } from "../support/random.ts";
import { check, Digest, type RuntimeTest } from "../support/runtime/suite.ts";

/** A history with every kind of operation; returns a digest of all that was put into the log. */
async function history(accelerated: boolean): Promise<string> {
  const signatures = await createSignatures(
    accelerated ? { ed25519: createWebCryptoEd25519(crypto.subtle) } : {},
  );
  const world = new World(createRandom(42), { signatures });
  const creator = await world.create();
  const agents = Array.from({ length: 6 }, () => world.newAgent());
  await world.add(creator, ...agents);
  const [first, second, third] = agents;
  check(first !== undefined && second !== undefined && third !== undefined, "seven agents");
  await talk(world, [creator, first]);
  await world.commit(first, () => ({}));
  await syncAll(world);
  await world.commit(creator, () => ({ remove: [second.id], owners: [creator.id, first.id] }));
  await syncAll(world);
  check(second.group === undefined, "the removed agent knows that it was removed");
  await world.add(third, world.newAgent());
  await syncAll(world);
  await first.acknowledge();
  await first.crash();
  await talk(world, [first, third]);
  check(world.authenticators().length === 1, "all authenticators are equal");
  const digest = new Digest();
  for (const { bytes, welcome } of world.log) {
    digest.add(bytes);
    if (welcome !== undefined) digest.add(welcome.bytes);
  }
  return `${digest} ${world.authenticators()[0]}`;
}

async function talk(world: World, senders: readonly Agent[]): Promise<void> {
  for (const sender of senders) {
    await sender.sync();
    check(
      await world.send(sender, new TextEncoder().encode("hello")),
      "a message is sent at the current epoch",
    );
  }
  await syncAll(world);
}

async function syncAll(world: World): Promise<void> {
  for (const agent of world.active()) {
    for (const { kind } of await agent.sync()) {
      check(
        ["message", "commit", "removed", "own", "stale"].includes(kind),
        `an entry of the log became ${kind}`,
      );
    }
  }
}

export const tests: readonly RuntimeTest[] = [
  {
    name: "a channel's history, with nothing of the runtime's, is the same to the last byte",
    run: () => history(false),
  },
  {
    name: "the runtime's own Ed25519 changes nothing of it",
    run: async () => {
      const [accelerated, portable] = [await history(true), await history(false)];
      check(accelerated === portable, "the accelerator produced other bytes");
      return accelerated;
    },
  },
];
