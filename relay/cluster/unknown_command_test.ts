// A command of a newer version, whose content may be anything, is told of by its name alone.
import { assertEquals } from "@std/assert";
import { encodeCbor } from "../../proto/mod.ts";
import { openReplicaStore } from "../engine/mod.ts";
import { encodeBatch } from "./log/batch.ts";
import { toCbor } from "./log/command.ts";
import { EphemeralState } from "./memory/ephemeral_state.ts";
import { Replica } from "./replica/replica.ts";

const command = encodeCbor(toCbor({ op: "newer", secret: "the content" }));
const log = [
  encodeBatch({ writer: "w", relay: "relay-2", number: 1, began: 0, commands: [] }),
  encodeBatch({ writer: "w", relay: "relay-2", number: 2, commands: [command] }),
];
const ignore = (): void => {};

Deno.test("a relay that reads an unknown command of the log ends, and tells nothing of its content", async () => {
  const store = await openReplicaStore({ path: ":memory:" });
  const { promise: failed, resolve } = Promise.withResolvers<Error>();
  const replica = new Replica(store, {
    seen: ignore,
    session: ignore,
    cursor: ignore,
    trimmed: ignore,
    welcomed: ignore,
    digest: ignore,
    failed: resolve,
  });
  log.forEach((bytes, index) => replica.take(index + 1, bytes));
  const expected =
    "The shared log cannot be carried out at 2: TypeError: A command of the shared log is unknown: newer";
  assertEquals((await failed).message, expected);
  await store.engine.close();
});

Deno.test("an unknown command of the shared memory is reported without its content", async () => {
  const { promise: fault, resolve } = Promise.withResolvers<unknown>();
  const listener = {
    seen: ignore,
    reset: ignore,
    join: ignore,
    joinEnd: ignore,
    tell: ignore,
    confirm: ignore,
  };
  const state = new EphemeralState({ ...listener, fault: resolve });
  log.forEach((bytes, index) => state.take(index + 1, bytes));
  assertEquals(String(await fault), "TypeError: A command of the shared memory is unknown: newer");
});
