import { assertEquals, assertRejects } from "@std/assert";
import { StartFailed } from "../../server/mod.ts";
import { keepLocalKeys } from "./nats_keys.ts";

Deno.test("keys are made once and kept, and a log from before keys is left alone", async () => {
  const folder = await Deno.makeTempDir({ prefix: "static-keys-" });
  const [kept, old] = [`${folder}/kept`, `${folder}/old`];
  await keepLocalKeys(kept);
  const read = (): Promise<string> => Deno.readTextFile(`${kept}/keys/relay/relay.creds`);
  const first = await read();
  await Deno.mkdir(`${kept}/1`);
  await keepLocalKeys(kept);
  assertEquals(await read(), first);
  await Deno.mkdir(`${old}/1/store`, { recursive: true });
  await assertRejects(
    () => keepLocalKeys(old),
    StartFailed,
    `the log in ${old} was written without keys`,
  );
  await Deno.remove(folder, { recursive: true });
});
