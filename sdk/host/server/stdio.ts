/**
 * One program in another language, and this process as its child: frames on standard input and
 * output. The end of the input means that the program is gone: the agent is closed, and what the
 * program was given without acknowledging it comes again.
 */
import { write } from "node:fs";
import process from "node:process";
import { createError, StaticError } from "../../base/errors.ts";
import { HostFrameReader } from "../frames.ts";
import { after, nowMs, randomBytes } from "../../platform/timers.ts";
import { connectAlone, connectOptionsOf } from "./connecting.ts";
import { HostFrameWriter } from "./frame_writer.ts";
import type { AgentHandle } from "./agent_handle.ts";
import { runtimeName } from "./runtime_name.ts";
import { HostSession } from "./session.ts";

const standardOutput = 1;

/** Resolves when the program has gone and the agent is closed. */
export async function serveStdio(): Promise<void> {
  keepOutputForFrames();
  // The program decides when this one ends: a Ctrl-C reaches both.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
  let held: AgentHandle | undefined;
  const stop = new AbortController();
  const writer = new HostFrameWriter(writeOutput, () => stop.abort());
  const session = new HostSession({
    runtime: { nowMs, after, randomBytes },
    runtimeName: runtimeName(),
    pid: process.pid,
    write: (frame) => writer.write(frame),
    hangUp: () => void writer.idle().then(() => stop.abort()),
    held: undefined,
    connect: async (fields, identity, asking) => {
      const options = connectOptionsOf(fields, identity, () => asking.ask("token"));
      held = await connectAlone({ ...options, signal: stop.signal }, fields.manager === true);
      return held;
    },
  });
  await receiveAll(session, stop.signal);
  session.end();
  stop.abort();
  await held?.close();
  process.stdin.destroy();
}

/** Resolves at the end of the input. */
function receiveAll(session: HostSession, stopped: AbortSignal): Promise<void> {
  const reader = new HostFrameReader();
  return new Promise((resolve) => {
    process.stdin.on("data", (chunk: Uint8Array) => {
      try {
        for (const frame of reader.push(chunk)) session.receive(frame);
      } catch (error) {
        session.goodbye(
          error instanceof StaticError ? error : createError("internal", String(error)),
        );
      }
    });
    for (const event of ["end", "error", "close"]) process.stdin.on(event, () => resolve());
    stopped.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Whatever is printed by mistake must not break a frame. */
function keepOutputForFrames(): void {
  // The write that failed says it.
  if (process.versions["deno"] === undefined) process.stdout.on("error", () => {});
  for (const name of ["log", "info", "debug", "warn", "trace", "dir", "table"] as const) {
    console[name] = console.error;
  }
}

/**
 * Deno's own stream writes byte for byte as slowly as a terminal needs it; Node's blocks, which a
 * pipe is quick enough for.
 */
function writeOutput(bytes: Uint8Array): Promise<void> {
  if (process.versions["deno"] === undefined) {
    return new Promise((resolve, reject) =>
      void process.stdout.write(bytes, (error) => error ? reject(error) : resolve())
    );
  }
  return new Promise((resolve, reject) => {
    const from = (at: number): void =>
      write(standardOutput, bytes, at, bytes.length - at, null, (error, written) => {
        if (error !== null) reject(error);
        else if (at + written < bytes.length) from(at + written);
        else resolve();
      });
    from(0);
  });
}
