/**
 * The socket way in: one process that holds an agent for every program of its user. It holds the
 * lock of the agent's store, so it alone may touch the socket's path; what another host has left
 * there is removed. Ends in order when nobody has used it for a while.
 */
import { chmod, rm } from "node:fs/promises";
import type { Server, Socket } from "node:net";
import process from "node:process";
import { hostOperations } from "../../../proto/host/operations.ts";
import { version } from "../../../proto/mod.ts";
import { createError, StaticError } from "../../base/errors.ts";
import { HostFrameReader } from "../frames.ts";
import { after, nowMs, randomBytes } from "../../platform/timers.ts";
import { listenAtPath } from "../../platform/unix_sockets.ts";
import { HostFrameWriter } from "./frame_writer.ts";
import { checked, type OperationAnswer, type OperationsByName } from "./operation.ts";
import { runtimeName } from "./runtime_name.ts";
import { HostSession } from "./session.ts";
import type { SharedAgent } from "./shared_agent.ts";

export interface SocketHostOptions {
  readonly agent: SharedAgent;
  readonly path: string;
  readonly settings?: string | undefined;
  /** Without a program for so long, it ends. */
  readonly idleMs: number;
  /**
   * A program that takes nothing for so long, while much waits for it, is cut off; 10 seconds when
   * not given.
   */
  readonly slowMs?: number;
  /**
   * Makes programs that would start the next host wait while this one ends; resolves to how to let
   * them.
   */
  readonly takeTurn?: () => Promise<(() => Promise<void>) | undefined>;
}

interface HostClosing {
  readonly asker?: HostSession;
  /** The reason that the other programs are told; else that the next call starts another host. */
  readonly why?: StaticError;
}

const maxPrograms = 64;
/** More than that may wait for a program only while it takes some of it. */
const maxUnreadBytes = 16 * 1024 * 1024;
const defaultSlowMs = 10_000;
const socketMode = 0o600;
/** At the end, for programs to take what they are told. */
const tellingMs = 1_000;

export class SocketHost {
  readonly #options: SocketHostOptions;
  #server: Server | undefined;
  /** Programs that are connected, with what is on its way to each. */
  readonly #sessions = new Map<HostSession, HostFrameWriter>();
  readonly #startedAtMs = nowMs();
  #cancelIdle: () => void = () => {};
  #closing: Promise<void> | undefined;
  #onEnded: () => void = () => {};
  /** Resolves when everything is closed. */
  readonly ended: Promise<void>;

  private constructor(options: SocketHostOptions) {
    this.#options = options;
    this.ended = new Promise((resolve) => this.#onEnded = resolve);
  }

  static async listen(options: SocketHostOptions): Promise<SocketHost> {
    const host = new SocketHost(options);
    await rm(options.path, { force: true });
    host.#server = await listenAtPath(options.path, (socket) => host.#accept(socket));
    await chmod(options.path, socketMode);
    host.#watchIdle();
    void options.agent.failed.then((error) => host.end(error));
    return host;
  }

  /**
   * Tells programs, closes the agent in order, and only then lets go of its directory. One that
   * asked for it is told last.
   */
  close({ asker, why = ending() }: HostClosing = {}): Promise<void> {
    this.#closing ??= this.#close(asker, why);
    return this.#closing;
  }

  /** The same when nobody waits for it: what fails then is for the log. */
  end(why?: StaticError): void {
    this.close(why && { why }).catch((error) => console.error(error));
  }

  async #close(asker: HostSession | undefined, why: StaticError): Promise<void> {
    this.#cancelIdle();
    this.#server?.close();
    const { path, agent, takeTurn } = this.#options;
    const endTurn = await takeTurn?.().catch(() => undefined);
    for (const session of [...this.#sessions.keys()]) if (session !== asker) session.goodbye(why);
    try {
      await rm(path, { force: true });
      await agent.close();
    } finally {
      await endTurn?.();
      // After the answer to the one that asked.
      after(0, () => void this.#leave());
    }
  }

  /** Not before everybody has been told, or does not listen. */
  async #leave(): Promise<void> {
    for (const session of this.#sessions.keys()) session.goodbye(ending());
    const late = new Promise<void>((resolve) => void after(tellingMs, resolve));
    await Promise.race([
      Promise.all(Array.from(this.#sessions.values(), (writer) => writer.idle())),
      late,
    ]);
    this.#onEnded();
  }

  #watchIdle(): void {
    this.#cancelIdle();
    if (this.#sessions.size > 0) return;
    this.#cancelIdle = after(
      this.#options.idleMs,
      () => this.#isIdle() ? this.end() : this.#watchIdle(),
    );
  }

  /** A program may go and leave messages to be sent when there is a connection. */
  #isIdle(): boolean {
    return this.#options.agent.unsent === 0;
  }

  #accept(socket: Socket): void {
    const writer = new HostFrameWriter((bytes) => writeTo(socket, bytes), () => socket.destroy());
    const session: HostSession = new HostSession({
      runtime: { nowMs, after, randomBytes },
      runtimeName: runtimeName(),
      pid: process.pid,
      write: (frame) => writer.write(frame),
      hangUp: () => void writer.idle().then(() => socket.end()),
      held: this.#options.agent.hold(),
      settings: this.#options.settings,
      operations: this.#operations(() => session),
    });
    const { slowMs = defaultSlowMs } = this.#options;
    const stopWatching = watchSlow(writer, slowMs, (isAgain) => {
      if (isAgain) return void socket.destroy();
      const text = `The program has read nothing for ${slowMs} ms, and was cut off`;
      // The program may learn why when it reads on: behind what it has begun to read.
      writer.drop();
      this.#sessions.delete(session);
      session.goodbye(createError("slow_reader", text));
    });
    socket.on("close", () => {
      stopWatching();
      session.end();
      this.#sessions.delete(session);
      this.#watchIdle();
    });
    const refusal = this.#refusal();
    if (refusal !== undefined) {
      session.goodbye(refusal);
      // The program's bytes are ignored, but its end is noticed.
      return void socket.resume();
    }
    this.#sessions.set(session, writer);
    this.#cancelIdle();
    receiveFrom(socket, session);
  }

  #refusal(): StaticError | undefined {
    if (this.#closing !== undefined) return ending();
    if (this.#sessions.size < maxPrograms) return undefined;
    return createError("overloaded", `The host serves ${maxPrograms} programs; end some of them`);
  }

  /** The answer comes when the directory is free. The one that asks is connected, too. */
  async #stop(whenIdle: boolean, asker: HostSession): Promise<OperationAnswer> {
    const { unsent } = this.#options.agent;
    const stopping = !whenIdle || (this.#sessions.size <= 1 && this.#isIdle());
    if (stopping) await this.close({ asker });
    return { ok: { stopping, unsent } };
  }

  /** Operations that only a host has, for a program. */
  #operations(session: () => HostSession): OperationsByName {
    const { agent } = this.#options;
    const { manager } = agent;
    return checked(hostOperations, {
      status: () => ({
        ok: {
          pid: process.pid,
          sdk: version,
          runtime: runtimeName(),
          startedAtMs: this.#startedAtMs,
          programs: this.#sessions.size,
          agentId: manager.client.agentId,
          channels: manager.channels,
        },
      }),
      stop: ({ fields: { whenIdle = false } }) => this.#stop(whenIdle, session()),
      names: () => agent.filesChanged(),
      readers: async ({ fields: { channel } }) => {
        return {
          ok: {
            readers: await agent.listReaders(channel === undefined ? manager.channels : [channel]),
          },
        };
      },
      deleteReader: async ({ fields: { channel, reader } }) => {
        await agent.readersOf(await manager.channel(channel)).delete(reader);
      },
    });
  }
}

function ending(): StaticError {
  return createError("listener_died", "The host ends; the next call starts another one");
}

function receiveFrom(socket: Socket, session: HostSession): void {
  const reader = new HostFrameReader();
  socket.on("data", (chunk: Uint8Array) => {
    try {
      for (const frame of reader.push(chunk)) session.receive(frame);
    } catch (error) {
      socket.removeAllListeners("data");
      session.goodbye(
        error instanceof StaticError ? error : createError("internal", String(error)),
      );
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

/**
 * Looks whether a program takes what waits for it, and once more after it was cut off. Returns how
 * to stop looking.
 */
function watchSlow(
  writer: HostFrameWriter,
  slowMs: number,
  cutOff: (isAgain: boolean) => void,
): () => void {
  let [written, sinceMs, isCutOff] = [0, nowMs(), false];
  let cancel = (): void => {};
  const look = (): void => {
    const isFine = writer.written !== written || (!isCutOff && writer.waiting <= maxUnreadBytes);
    if (isFine) [written, sinceMs] = [writer.written, nowMs()];
    if (nowMs() - sinceMs >= slowMs) {
      cutOff(isCutOff);
      if (isCutOff) return;
      [isCutOff, sinceMs] = [true, nowMs()];
    }
    cancel = after(slowMs / 10, look);
  };
  look();
  return () => cancel();
}
