/**
 * Why `server/http2/` exists, on the newest Deno: `node:http2` reads memory that it has freed when
 * a peer says GOAWAY and leaves. Freed memory is overwritten here, so that this shows at the first
 * peer and not at one of thousands. To be added to denoland/deno#36788: it needs no idle minutes;
 * with `MALLOC_PERTURB_=165` a server on `createSecureServer` ends with SIGBUS when the first
 * client sends GOAWAY after its response and closes.
 */
import { assert } from "@std/assert";
import { createCertificate, testWhen } from "../support/mod.ts";
import { RawClient } from "../support/http2/raw_client.ts";
import { linesOf, perturbed, ServerProcess } from "../support/http2/server_process.ts";
import { flag, getBlock, goaway, headers } from "../support/http2/wire.ts";
import { checkReasons } from "../support/reasons.ts";
import { hasNewestDeno, newestDeno } from "./newest_deno.ts";

const rounds = 100;

testWhen(
  hasNewestDeno,
  "server/http2 has a reason: node:http2 of the newest Deno aborts the process",
  async () => {
    assert(newestDeno !== undefined);
    const { path, version } = newestDeno;
    await checkReasons({
      library: `node:http2 of Deno ${version}`,
      reasons: {
        "a server aborts when its clients leave": () => serverAborts(path),
        "a client aborts when its server says GOAWAY": () => clientAborts(path),
      },
      deletion:
        "Serve gRPC on node:http2, run tests/http2 against it, and delete proto/http2 with streams and flow control of " +
        "server/http2, as docs/architecture.md#http2 says; let sdk/transport/session_stream.ts use node:http2",
    });
  },
);

/** Each client reads a whole response and says goodbye. */
async function serverAborts(deno: string): Promise<boolean> {
  const certificate = await createCertificate();
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/cert.pem`, certificate.cert);
    await Deno.writeTextFile(`${folder}/key.pem`, certificate.key, { mode: 0o600 });
    const child = start(deno, "node_http2_server.mjs", [`${folder}/cert.pem`, `${folder}/key.pem`]);
    const lines = linesOf(child.stdout);
    const first = await lines.next();
    assert(!first.done, "the server did not start, so nothing is judged");
    const server = { port: Number(first.value), certificate };
    let served = 0;
    while (served < rounds && await askAndLeave(server)) served++;
    await child.stdin.close().catch(() => {});
    await lines.return(undefined);
    assert(served > 0, "the server answered nobody, so nothing is judged");
    return await hasAborted(child);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Returns false when the server is gone. */
async function askAndLeave(server: Parameters<typeof RawClient.open>[0]): Promise<boolean> {
  try {
    using client = await RawClient.open(server);
    await client.send(headers(1, getBlock));
    for (let ended = false; !ended;) {
      const frames = await client.read();
      if (frames.length === 0) return false;
      ended = frames.some(({ streamId, flags }) =>
        streamId === 1 && (flags & flag.END_STREAM) !== 0
      );
    }
    return await client.send(goaway(0, 0));
  } catch {
    return false;
  }
}

/** Our server says GOAWAY to connections that rest. */
async function clientAborts(deno: string): Promise<boolean> {
  await using server = await ServerProcess.start({ budgets: { idleTimeoutMs: 1 } });
  const child = start(deno, "node_http2_client.mjs", [server.origin, server.certFile, "10"]);
  const connections: string[] = [];
  for await (const line of linesOf(child.stdout)) connections.push(line);
  await child.stdin.close().catch(() => {});
  return await hasAborted(child);
}

/** By a signal. A process that failed in another way is no reason. */
async function hasAborted(child: Deno.ChildProcess): Promise<boolean> {
  const { success, code, signal } = await child.status;
  assert(
    success || signal !== null || code > 128,
    `the process failed with ${code}, so nothing is judged`,
  );
  return !success;
}

function start(deno: string, script: string, args: readonly string[]): Deno.ChildProcess {
  const path = new URL(script, import.meta.url).pathname;
  return new Deno.Command(deno, {
    args: ["run", "-A", "--no-check", "--quiet", "--no-config", path, ...args],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
    env: perturbed,
  }).spawn();
}
