import { assertEquals, assertRejects } from "@std/assert";
import { unpack } from "./unpack.ts";

interface Part {
  readonly name: string;
  readonly kind?: string;
  readonly text?: string;
  /** Octal; by default the text's. */
  readonly size?: string;
}

async function archiveOf(parts: readonly Part[], { end = true } = {}): Promise<Blob> {
  const blocks = parts.flatMap(
    ({ name, kind = "0", text = "", size = text.length.toString(8) }) => {
      const header = new Uint8Array(512);
      const encoder = new TextEncoder();
      header.set(encoder.encode(name));
      header.set(encoder.encode(size.padStart(11, "0")), 124);
      header.set(encoder.encode(kind), 156);
      const content = new Uint8Array(Math.ceil(text.length / 512) * 512);
      content.set(encoder.encode(text));
      return [header, content];
    },
  );
  const tar = new Blob(end ? [...blocks, new Uint8Array(1_024)] : blocks);
  return await new Response(tar.stream().pipeThrough(new CompressionStream("gzip"))).blob();
}

async function unpacked(archive: Blob): Promise<Record<string, string>> {
  const parent = await Deno.makeTempDir({ prefix: "static-unpack-" });
  const found: Record<string, string> = {};
  try {
    await Deno.mkdir(`${parent}/in`);
    await unpack(archive, `${parent}/in`);
    const read = async (folder: string, prefix: string): Promise<void> => {
      for await (const { name, isDirectory } of Deno.readDir(folder)) {
        const { mode } = await Deno.stat(`${folder}/${name}`);
        found[`${prefix}${name}`] = `${((mode ?? 0) & 0o777).toString(8)} ${
          isDirectory ? "" : await Deno.readTextFile(`${folder}/${name}`)
        }`;
        if (isDirectory) await read(`${folder}/${name}`, `${prefix}${name}/`);
      }
    };
    await read(`${parent}/in`, "");
    return found;
  } finally {
    await Deno.remove(parent, { recursive: true });
  }
}

Deno.test("an archive's files and folders are there afterwards, for this user alone", async () => {
  const long = "x".repeat(513);
  const archive = await archiveOf([
    { name: "/base", kind: "5" },
    { name: "/base/1", text: "one" },
    { name: "/long", text: long },
    { name: "/empty" },
  ]);
  assertEquals(await unpacked(archive), {
    "base": "700 ",
    "base/1": "600 one",
    "long": `600 ${long}`,
    "empty": "600 ",
  });
});

Deno.test("an archive that is damaged, or leads outside its folder, is refused", async () => {
  const refused: Record<string, Promise<Blob>> = {
    "outside the folder": archiveOf([{ name: "../escaped", text: "x" }]),
    "outside the folder: /": archiveOf([{ name: "/", kind: "5" }]),
    "is damaged at link": archiveOf([{ name: "link", kind: "2" }]),
    "is damaged at short": archiveOf([{ name: "short", text: "x", size: "7777777" }]),
    "is damaged at wild": archiveOf([{ name: "wild", size: "zzz" }]),
    "has no end": archiveOf([{ name: "cut", text: "x" }], { end: false }),
  };
  for (const [reason, archive] of Object.entries(refused)) {
    const made = await archive;
    await assertRejects(() => unpacked(made), Error, reason);
  }
});

Deno.test("what is not compressed is refused", async () => {
  await assertRejects(() => unpacked(new Blob(["no archive"])), TypeError);
});
