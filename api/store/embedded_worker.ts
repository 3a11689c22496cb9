/**
 * The embedded database's thread: PGlite, which blocks while it works, behind a Unix socket that
 * only this user can open. The first message says where; the answers are `ready` or `failed`, and
 * later `closed`.
 */
import { PGlite } from "@electric-sql/pglite";
import { dataDir as emptyDatabase } from "@electric-sql/pglite-prepopulatedfs";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";
import type { EmbeddedCommand, EmbeddedEvent } from "./embedded.ts";
import { unpack } from "./unpack.ts";

/**
 * The worker's side of the channel, typed here because the project is checked with the main
 * thread's library.
 */
interface WorkerScope {
  onmessage: ((event: MessageEvent<EmbeddedCommand>) => void) | null;
  postMessage(event: EmbeddedEvent): void;
}

const scope = globalThis as unknown as WorkerScope; // cast: this module only ever runs in a worker

/** This service, and an administrator's command beside it. */
const maxConnections = 4;
/** ENOSPC in WASI. */
const noSpace = 51;

async function open(folder: string, socket: string): Promise<() => Promise<void>> {
  // An empty database comes with the packages: making one (initdb) takes several times as long as
  // unpacking it.
  if (await isEmpty(folder)) await unpack(await emptyDatabase(), folder);
  const database = await PGlite.create({ dataDir: folder });
  const server = new PGLiteSocketServer({ db: database, path: socket, maxConnections });
  await server.start();
  return async () => {
    await server.stop();
    await database.close();
  };
}

async function isEmpty(folder: string): Promise<boolean> {
  for await (const _ of Deno.readDir(folder)) return false;
  return true;
}

const opened: { close?: () => Promise<void> } = {};

/** Never rejects. */
async function carryOut(command: EmbeddedCommand): Promise<void> {
  try {
    if (command.kind === "open") {
      opened.close = await open(command.folder, command.socket);
      scope.postMessage({ kind: "ready" });
    } else {
      await opened.close?.();
      scope.postMessage({ kind: "closed" });
    }
  } catch (error) {
    scope.postMessage({ kind: "failed", reason: reasonOf(error) });
  }
}

scope.onmessage = ({ data: command }) => void carryOut(command);

/**
 * The database's own file system throws objects that are no errors, with the number that
 * WebAssembly has for the reason.
 */
function reasonOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  const errno: unknown = typeof error === "object" && error !== null
    ? Reflect.get(error, "errno")
    : undefined;
  if (errno === noSpace) return "no space is left on the disk";
  return errno === undefined ? String(error) : `the system refused (number ${errno})`;
}
