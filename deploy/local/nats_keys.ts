/**
 * Keys of the nodes and relays on this machine: made with the first start, and kept, because the
 * log belongs to its account.
 */
import { StartFailed } from "../../server/mod.ts";
import { writeNatsKeys } from "../nats/keys.ts";
import { localNode } from "./nats_server.ts";

/** `folder` has the folders of the nodes. Throws `StartFailed`. */
export async function keepLocalKeys(folder: string): Promise<void> {
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  const names = new Set((await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name));
  if (names.has("keys")) return;
  if (names.has("1")) {
    throw new StartFailed(
      `Cannot start several relays: the log in ${folder} was written without keys, and nodes with keys do not read it. Move ${folder} away to begin with an empty log`,
    );
  }
  await writeNatsKeys(`${folder}/keys`, [localNode], Date.now());
}
