/**
 * A host as a process: it gets its options as one frame on standard input, so that no secret stands
 * in arguments or environment, and answers with one frame once programs can connect, or with why
 * not. From then on it belongs to nobody.
 */
import process from "node:process";
import { dirname } from "node:path";
import { platform } from "#platform";
import { hostStart } from "../../../proto/host/operations.ts";
import { connectAgent } from "../../api/connect_agent.ts";
import { createError } from "../../base/errors.ts";
import { HeaderFields } from "../fields.ts";
import { encodeFrame, type HostFrame, HostFrameReader } from "../frames.ts";
import { encodeError } from "../wire_errors.ts";
import { connectOptionsOf, platformFor } from "./connecting.ts";
import { SharedAgent } from "./shared_agent.ts";
import { SocketHost } from "./socket_host.ts";

const defaultIdleMs = 10 * 60_000;

/** Resolves when the host has ended. */
export async function serveSocket(): Promise<void> {
  let host: SocketHost | undefined;
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => host?.end());
  process.on("SIGHUP", () => {});
  // The program that started it may be gone before it hears the answer.
  process.stdout.on("error", () => {});
  try {
    host = await openHost(await readFrame());
    await say(encodeFrame({ id: 1, ok: { pid: process.pid } }));
  } catch (error) {
    await say(encodeFrame({ id: 1, error: encodeError(error) }));
    return;
  }
  await host.ended;
}

async function openHost({ header, bytes }: HostFrame): Promise<SocketHost> {
  const { socket: path, idleMs = defaultIdleMs, settings, saved, ...fields } = new HeaderFields(
    header,
  )
    .read(hostStart);
  const noAsking = (): Promise<string> =>
    Promise.reject(createError("auth_failed", "A host cannot ask for a token"));
  const agent = await connectAgent(connectOptionsOf(fields, bytes, noAsking), platformFor(saved));
  const shared = await SharedAgent.over(agent);
  try {
    const place = { dataDir: fields.dataDir, folder: dirname(path), socket: path };
    const takeTurn = async (): Promise<(() => Promise<void>) | undefined> =>
      await platform.hosts?.takeTurn(place);
    return await SocketHost.listen({ agent: shared, path, idleMs, settings, takeTurn });
  } catch (error) {
    await shared.close();
    throw error;
  }
}

function readFrame(): Promise<HostFrame> {
  const reader = new HostFrameReader();
  return new Promise((resolve, reject) => {
    process.stdin.on("data", (chunk: Uint8Array) => {
      try {
        for (const frame of reader.push(chunk)) resolve(frame);
      } catch (error) {
        reject(error);
      }
    });
    process.stdin.on("error", reject);
    process.stdin.once(
      "end",
      () => reject(createError("protocol_error", "A host is started with its options")),
    );
  });
}

function say(frame: Uint8Array): Promise<void> {
  return new Promise((resolve) => void process.stdout.write(frame, () => resolve()));
}
