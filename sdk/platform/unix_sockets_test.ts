import type { Socket } from "node:net";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { connectPath, listenAtPath } from "./unix_sockets.ts";

/** As often as an error may come: none of them may be the one that nobody listens for. */
const times = 3;

function reset(): Error {
  return Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
}

Deno.test("errors of a socket in the file system, at either end, and of its server have an owner for all their life", async () => {
  const folder = await Deno.makeTempDir({ prefix: "static-sockets-" });
  const path = `${folder}/socket`;
  const { promise: taken, resolve: take } = Promise.withResolvers<Socket>();
  const server = await listenAtPath(path, take);
  for (let i = 0; i < times; i++) server.emit("error", reset());
  const [mine, theirs] = await Promise.all([connectPath(path), taken]);
  for (const socket of [mine, theirs]) {
    const closed = new Promise((resolve) => socket.once("close", resolve));
    for (let i = 0; i < times; i++) socket.emit("error", reset());
    await closed;
    assert(socket.destroyed);
    socket.emit("error", reset());
  }
  await new Promise((resolve) => server.close(resolve));
  assertEquals(
    (await assertRejects(() => connectPath(path), Error) as { code?: string }).code,
    "ENOENT",
  );
  await Deno.remove(folder, { recursive: true });
});
