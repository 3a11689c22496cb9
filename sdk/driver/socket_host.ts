/**
 * The socket way in: one process that holds an agent for every program of its user. It holds the lock of the agent's store, so it
 * alone may touch the socket's path; what another host has left there is removed. Ends in order when nobody has used it for a
 * while.
 */
import { chmod, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import process from "node:process";
import { version } from "../../proto/mod.ts";
import { createError, StaticError } from "../base/errors.ts";
import { FrameReader } from "../host/frames.ts";
import { after, nowMs, randomBytes } from "../platform/timers.ts";
import { FrameWriter } from "./frame_writer.ts";
import type { Operation } from "./operation.ts";
import { runtimeName } from "./runtime_name.ts";
import { HostSession } from "./session.ts";
import type { SharedAgent } from "./shared_agent.ts";

export interface SocketHostOptions {
  readonly agent: SharedAgent;
  readonly path: string;
  readonly settings?: string | undefined;
  /** Without a program for so long, it ends. */
  readonly idleMs: number;
  /** A program that takes nothing for so long, while much waits for it, is cut off; 10 seconds when not given. */
  readonly slowMs?: number;
}

const maxPrograms = 64;
/** More than that may wait for a program only while it takes some of it. */
const maxUnreadBytes = 16 * 1024 * 1024;
const defaultSlowMs = 10_000;
const socketMode = 0o600;

export class SocketHost {
  readonly #options: SocketHostOptions;
  readonly #server: Server;
  readonly #sessions = new Set<HostSession>();
  readonly #startedAtMs = nowMs();
  #cancelIdle: () => void = () => {};
  #closing: Promise<void> | undefined;
  #onEnded: () => void = () => {};
  /** Resolves when everything is closed. */
  readonly ended: Promise<void>;

  private constructor(options: SocketHostOptions) {
    this.#options = options;
    this.#server = createServer((socket) => this.#accept(socket));
    this.ended = new Promise((resolve) => this.#onEnded = resolve);
  }

  static async listen(options: SocketHostOptions): Promise<SocketHost> {
    const host = new SocketHost(options);
    await rm(options.path, { force: true });
    await new Promise<void>((resolve, reject) => {
      host.#server.once("error", reject);
      host.#server.listen(options.path, () => resolve());
    });
    await chmod(options.path, socketMode);
    host.#watchIdle();
    return host;
  }

  /** Tells programs, closes the agent in order, and only then lets go of its directory. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#cancelIdle();
    this.#server.close();
    const over = createError("listener_died", "The host ends; the next call starts another one");
    for (const session of [...this.#sessions]) session.goodbye(over);
    try {
      await rm(this.#options.path, { force: true });
      await this.#options.agent.close();
    } finally {
      this.#onEnded();
    }
  }

  #watchIdle(): void {
    this.#cancelIdle();
    if (this.#sessions.size === 0) this.#cancelIdle = after(this.#options.idleMs, () => void this.close());
  }

  #accept(socket: Socket): void {
    socket.on("error", () => socket.destroy());
    const writer = new FrameWriter((bytes) => writeTo(socket, bytes), () => socket.destroy());
    const session = new HostSession({
      runtime: { nowMs, after, randomBytes },
      runtimeName: runtimeName(),
      pid: process.pid,
      write: (frame) => writer.write(frame),
      hangUp: () => void writer.idle().then(() => socket.end()),
      held: this.#options.agent.hold(),
      settings: this.#options.settings,
      operations: this.#operations,
    });
    const { slowMs = defaultSlowMs } = this.#options;
    const stopWatching = watchSlow(writer, slowMs, () => {
      const text = `The program has read nothing for ${slowMs} ms, and was cut off`;
      session.goodbye(createError("slow_reader", text));
      socket.destroy();
    });
    socket.on("close", () => {
      stopWatching();
      session.end();
      this.#sessions.delete(session);
      this.#watchIdle();
    });
    if (this.#sessions.size >= maxPrograms || this.#closing !== undefined) {
      return session.goodbye(createError("overloaded", `The host serves ${maxPrograms} programs; end some of them`));
    }
    this.#sessions.add(session);
    this.#cancelIdle();
    receiveFrom(socket, session);
  }

  /** What only a host has. */
  readonly #operations: Readonly<Record<string, Operation>> = {
    status: () => ({
      ok: {
        pid: process.pid,
        sdk: version,
        runtime: runtimeName(),
        startedAtMs: this.#startedAtMs,
        programs: this.#sessions.size,
        agentId: this.#options.agent.manager.client.agentId,
        channels: this.#options.agent.manager.channels,
      },
    }),
    stop: ({ fields }) => {
      // The one that asks is connected, too.
      const stopping = !fields.flag("whenIdle") || this.#sessions.size <= 1;
      if (stopping) after(0, () => void this.close());
      return { ok: { stopping } };
    },
    readers: async ({ fields }) => {
      const { agent } = this.#options;
      const name = fields.optionalText("channel");
      return { ok: { readers: await agent.listReaders(name === undefined ? agent.manager.channels : [name]) } };
    },
    deleteReader: async ({ fields }) => {
      const { agent } = this.#options;
      await agent.readersOf(await agent.manager.channel(fields.text("channel"))).delete(fields.text("reader"));
    },
  };
}

/** Names of what only a host has. */
export const hostOperationNames: readonly string[] = ["status", "stop", "readers", "deleteReader"];

function receiveFrom(socket: Socket, session: HostSession): void {
  const reader = new FrameReader();
  socket.on("data", (chunk: Uint8Array) => {
    try {
      for (const frame of reader.push(chunk)) session.receive(frame);
    } catch (error) {
      socket.removeAllListeners("data");
      session.goodbye(error instanceof StaticError ? error : createError("internal", String(error)));
    }
  });
}

function writeTo(socket: Socket, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    if (socket.destroyed) return reject(new Error("The program has gone"));
    const gone = (): void => reject(new Error("The program has gone"));
    socket.once("close", gone);
    socket.write(bytes, (error) => {
      socket.off("close", gone);
      if (error) reject(error);
      else resolve();
    });
  });
}

/** Looks whether a program takes what waits for it. Returns how to stop looking. */
function watchSlow(writer: FrameWriter, slowMs: number, cutOff: () => void): () => void {
  let [written, sinceMs] = [0, nowMs()];
  let cancel = (): void => {};
  const look = (): void => {
    if (writer.written !== written || writer.waiting <= maxUnreadBytes) [written, sinceMs] = [writer.written, nowMs()];
    if (nowMs() - sinceMs >= slowMs) return cutOff();
    cancel = after(slowMs / 10, look);
  };
  look();
  return () => cancel();
}
