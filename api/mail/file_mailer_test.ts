import { assert, assertEquals } from "@std/assert";
import { createFileMailer } from "./file_mailer.ts";

Deno.test("the newest thousand messages are kept, each in a file of its own, in their order", async () => {
  const folder = await Deno.makeTempDir({ prefix: "static-mail-" });
  try {
    const mailer = createFileMailer(`${folder}/mail`, () => 0);
    const send = (id: number): Promise<string> =>
      mailer.send({ id: String(id), recipient: "a@example.com", subject: "s", body: "b" });
    for (let id = 0; id < 1_210; id += 10) {
      // As the queue does: ten at once.
      await Promise.all(Array.from({ length: 10 }, (_, i) => send(id + i)));
    }
    const names = Array.from(Deno.readDirSync(`${folder}/mail`), ({ name }) => name).sort();
    const ids = names.map((name) => Number(name.split("_").at(-1)?.slice(0, -".txt".length)));
    assert(ids.length >= 1_000 && ids.length < 1_120, `${ids.length} files`);
    assertEquals(ids, Array.from({ length: ids.length }, (_, i) => 1_210 - ids.length + i));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
