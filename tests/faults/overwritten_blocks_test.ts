/**
 * A thief with an image of the whole disk, free blocks and the journal of the file system included:
 * on ext4 the secret of a period that is over is nowhere on it.
 */
import { assertEquals } from "@std/assert";
import { hkdfSync } from "node:crypto";
import { openDirectoryStore } from "../../sdk/platform/directory_store.ts";
import { eventually } from "../support/eventually.ts";
import { runCommand, testWhen } from "../support/mod.ts";
import { secretIn } from "../support/stolen_store.ts";

const blockBytes = 4096;
const periods = 12;

class DiskImage implements AsyncDisposable {
  readonly folder: string;
  readonly #parent: string;
  readonly #image: string;

  private constructor(parent: string) {
    [this.folder, this.#parent, this.#image] = [`${parent}/disk`, parent, `${parent}/image`];
  }

  static async mount(): Promise<DiskImage> {
    const parent = await Deno.makeTempDir({ prefix: "static-blocks-" });
    const disk = new DiskImage(parent);
    try {
      await Deno.mkdir(disk.folder);
      await Deno.writeFile(disk.#image, new Uint8Array(0));
      await Deno.truncate(disk.#image, 48 << 20);
      await runCommand("mkfs.ext4", ["-q", "-b", String(blockBytes), disk.#image]);
      await runCommand("mount", ["-o", "loop", disk.#image, disk.folder]);
      return disk;
    } catch (error) {
      await Deno.remove(parent, { recursive: true });
      throw error;
    }
  }

  read(): Promise<Uint8Array<ArrayBuffer>> {
    return Deno.readFile(this.#image);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await runCommand("umount", [this.folder]);
    await Deno.remove(this.#parent, { recursive: true });
  }
}

async function canMount(): Promise<boolean> {
  try {
    await using _disk = await DiskImage.mount();
    return true;
  } catch {
    return false;
  }
}

const ext4 = { met: await canMount(), reason: "an image of ext4 cannot be mounted here" };

/** In hexadecimal, without repetitions. */
function secretsOn(image: Uint8Array, key: Uint8Array): string[] {
  const found = new Set<string>();
  for (let at = 0; at < image.length; at += blockBytes) {
    const secret = secretIn(image.subarray(at, at + blockBytes), key);
    if (secret !== undefined) found.add(secret.toHex());
  }
  return [...found];
}

testWhen(ext4, "the secret of a period that is over is in no block of an ext4 disk", async () => {
  await using disk = await DiskImage.mount();
  const folder = `${disk.folder}/agent`;
  let end: (() => void) | undefined;
  const store = await openDirectoryStore(folder, {}, (parts) => {
    if (parts.periods === undefined) return parts;
    const after = (_ms: number, run: () => void): () => void => {
      end = run;
      return () => end = undefined;
    };
    return { ...parts, periods: { ...parts.periods, after } };
  });
  await using _closed = { [Symbol.asyncDispose]: () => store.close() };
  const dataKey = (await Deno.readFile(`${folder}/key`)).subarray(6, 38);
  const key = new Uint8Array(
    hkdfSync("sha256", dataKey, new Uint8Array(0), "static-store 1 periods", 32),
  );
  const current = async (): Promise<string[]> =>
    secretsOn(await Deno.readFile(`${folder}/period`), key);
  const [first = ""] = await current();
  await Deno.copyFile(`${folder}/period`, `${disk.folder}/copy`);
  await runCommand("sync", ["-f", disk.folder]);
  await Deno.remove(`${disk.folder}/copy`);
  const past = new Set<string>();
  for (let period = 0; period < periods; period++) {
    for (const secret of await current()) past.add(secret);
    await store.put("mls-a", "chain", new Uint8Array(100));
    await eventually(
      { what: "the timer of the period" },
      () => Promise.resolve(end),
      (run) => run !== undefined,
    );
    end?.();
    await eventually(
      { what: "the period ends" },
      current,
      (now) => now.length === 1 && now.every((s) => !past.has(s)),
    );
  }
  await runCommand("sync", ["-f", disk.folder]);
  const found = secretsOn(await disk.read(), key);
  assertEquals(past.size, periods);
  assertEquals(
    new Set(found),
    new Set([...await current(), first]),
    "the first is what the deleted copy has left, a control",
  );
});
