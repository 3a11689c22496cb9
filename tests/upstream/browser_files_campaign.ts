/**
 * Overwritten values in a copied profile of Chromium: docs/keys.md says that its IndexedDB forgets
 * nothing for long, that keys which scripts cannot export lie in it, and that an access handle of
 * the origin's own files would overwrite.
 */
import { assert, assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { testWhen } from "../support/mod.ts";
import { chromium, startChromium } from "../support/runtime/chromium.ts";

/** All that a page has written, in base64. */
interface Written {
  readonly records: readonly string[];
  readonly places: readonly string[];
  readonly secret: string;
}

/** All that is in the files of a folder. */
async function contentOf(folder: string): Promise<Buffer[]> {
  const all: Buffer[] = [];
  for await (const { name, isDirectory, isFile } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) all.push(...await contentOf(path));
    else if (isFile) all.push(Buffer.from(await Deno.readFile(path)));
  }
  return all;
}

testWhen(
  chromium,
  "a profile keeps each version of a record of IndexedDB, and none of an overwritten file",
  async () => {
    const page = await Deno.readTextFile(new URL("browser_files_page.mjs", import.meta.url));
    const reported = Promise.withResolvers<Written>();
    await using server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      async (request) => {
        if (request.method === "POST") reported.resolve(await request.json());
        const html = `<!doctype html><script type="module">${page}</script>`;
        return new Response(html, { headers: { "content-type": "text/html" } });
      },
    );
    await using browser = await startChromium([`http://127.0.0.1:${server.addr.port}/`]);
    const ended = browser.process.status.then(({ code }) => {
      throw new Error(`Chromium ended with code ${code}`);
    });
    const { records, places, secret } = await Promise.race([reported.promise, ended]);
    const files = await contentOf(`${browser.profile}/Default`);
    const isThere = (bytes: string): boolean =>
      files.some((file) => file.includes(Buffer.from(bytes, "base64")));
    assertEquals(records.filter(isThere).length, records.length, "versions of the record");
    assert(isThere(secret), "a key that scripts cannot export");
    assertEquals(places.filter(isThere), places.slice(-2), "what lay in the file");
  },
);
