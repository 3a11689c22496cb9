import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";

const root = new URL("../../", import.meta.url);

/** `deno task start` as a user runs it, in a folder of its own. */
async function start(variables: Readonly<Record<string, string>>): Promise<Deno.ChildProcess & { folder: string }> {
  const folder = await Deno.makeTempDir({ prefix: "static-start-" });
  const child = new Deno.Command(Deno.execPath(), {
    args: ["task", "--quiet", "start"],
    cwd: root,
    env: { STATIC_DATA_DIR: folder, STATIC_API_PORT: "0", STATIC_ADMIN_PORT: "0", ...variables },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  return Object.assign(child, { folder });
}

/** Reads until the text has appeared. */
async function readUntil(stream: ReadableStream<Uint8Array<ArrayBuffer>>, text: string): Promise<string> {
  let seen = "";
  for await (const chunk of stream.pipeThrough(new TextDecoderStream()).values({ preventCancel: true })) {
    seen += chunk;
    if (seen.includes(text)) return seen;
  }
  throw new Error(`"${text}" did not appear in: ${seen}`);
}

Deno.test("deno task start runs the API, names what is missing, and stops on Ctrl-C", async () => {
  const child = await start({});
  const output = await readUntil(child.stdout, "Ctrl-C stops it.");
  assertStringIncludes(output, "Not in this checkout yet:");
  const url = /API +(http:\S+)/.exec(output)?.[1];
  assert(url !== undefined);
  assertEquals(await (await fetch(`${url}/health`)).json(), { status: "ok" });
  child.kill("SIGINT");
  assertEquals((await child.status).code, 0);
  await child.stderr.cancel();
  await Deno.remove(child.folder, { recursive: true });
});

Deno.test("a port that is taken gives the variable to change, not a stack trace", async () => {
  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const child = await start({ STATIC_API_PORT: String(taken.addr.port) });
  const [{ code }, errors] = await Promise.all([
    child.status,
    new Response(child.stderr).text(),
    child.stdout.cancel(),
  ]);
  assertEquals(code, 1);
  assertMatch(errors, /port is taken.*STATIC_API_PORT/);
  await Deno.remove(child.folder, { recursive: true });
});
