/**
 * SLIM beside us: messages per second that its receiver has acknowledged, and a round trip. Its
 * package (native Rust, 280 MB for all systems) is installed for the run only. For arm64 Linux it
 * holds a library of another system: then the reason is said.
 */
import { freePort } from "../../tests/support/mod.ts";
import { linesOf } from "../relay/lines.ts";

const packageName = "@agntcy/slim-bindings@2.0.0-alpha.5";
const [messages, waitMs] = [6_000, 120_000];

export interface SlimFigures {
  readonly perSecond: number;
  readonly roundTripMs: number;
}

/** Returns why it cannot be measured, in words. */
export async function measureSlim(payloadBytes: number): Promise<SlimFigures | string> {
  const folder = await Deno.makeTempDir({ prefix: "static-slim-" });
  const children: Deno.ChildProcess[] = [];
  const start = (...args: readonly string[]): Deno.ChildProcess => {
    const child = new Deno.Command("node", {
      args: ["peer.mjs", ...args],
      cwd: folder,
      stdout: "piped",
      stderr: "null",
    })
      .spawn();
    children.push(child);
    return child;
  };
  try {
    await install(folder);
    const port = String(freePort());
    for (const role of ["server", "receiver"]) {
      await lineOf(start(role, port), (line) => line === "ready");
    }
    const found = await lineOf(
      start("sender", port, String(messages), String(payloadBytes)),
      (line) => line.startsWith("{"),
    );
    return JSON.parse(found);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    for (const child of children) {
      try {
        child.kill("SIGKILL");
      } catch { /* it has ended */ }
      await child.status;
    }
    await Deno.remove(folder, { recursive: true });
  }
}

async function install(folder: string): Promise<void> {
  await Deno.copyFile(new URL("slim_peer.mjs", import.meta.url), `${folder}/peer.mjs`);
  await Deno.writeTextFile(`${folder}/package.json`, "{}");
  const { success, stderr } = await new Deno.Command("npm", {
    args: ["install", "--no-audit", "--no-fund", "--silent", packageName],
    cwd: folder,
  }).output();
  if (!success) {
    throw new Error(`npm cannot install it: ${new TextDecoder().decode(stderr).slice(0, 200)}`);
  }
}

/**
 * The first line that is meant. The others are read too: a process whose output nobody takes would
 * end.
 */
function lineOf({ stdout }: Deno.ChildProcess, isIt: (line: string) => boolean): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const timer = setTimeout(
    () => reject(new Error(`it did not answer within ${waitMs / 1000} s`)),
    waitMs,
  );
  void (async () => {
    for await (const line of linesOf(stdout)) if (isIt(line)) resolve(line);
    reject(new Error("its process ended: the package does not load on this machine"));
  })();
  return promise.finally(() => clearTimeout(timer));
}
