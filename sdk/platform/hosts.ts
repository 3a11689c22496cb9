/**
 * Hosts of agents, for Node and Deno: a Unix socket in a folder that nobody else can enter. That folder is the whole protection,
 * because no JavaScript runtime tells the user at the other end of a socket; so it is looked at before each use.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { closeSync, openSync } from "node:fs";
import { chmod, lstat, mkdir, open, realpath, rm, stat } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { createError, type StaticError } from "../base/errors.ts";
import { childArguments, childEnvironment } from "./host_child.ts";
import type { HostEnds, HostPlace, HostPlatform, HostWire } from "./platform.ts";

const [ownerFolder, ownerFile] = [0o700, 0o600];
/** What every system allows for the path of a socket. */
const maxPathBytes = 100;
/** A turn that was taken longer ago than a host needs to start is void. */
const maxTurnMs = 20_000;

const unixHosts: HostPlatform = {
  place: async (dataDir) => {
    await mkdir(dataDir, { recursive: true, mode: ownerFolder });
    const real = await realpath(dataDir);
    const place = { dataDir: real, ...placeOf(real) };
    await mkdir(place.folder, { recursive: true, mode: ownerFolder });
    await checkFolder(place.folder);
    return place;
  },
  connect: ({ socket: path }, ends) =>
    new Promise((resolve, reject) => {
      const socket = connect({ path });
      socket.once("error", (error) => isNobody(error) ? resolve(undefined) : reject(cannotReach(path, error)));
      socket.once("connect", () => resolve(wireOf(socket, ends)));
    }),
  takeTurn: async ({ folder }) => {
    const path = join(folder, "starting");
    try {
      await (await open(path, "wx", ownerFile)).close();
      return () => rm(path, { force: true });
    } catch (error) {
      if (!hasCode(error, "EEXIST")) throw error;
    }
    const takenMs = await stat(path).then(({ mtimeMs }) => mtimeMs, () => Date.now());
    if (Date.now() - takenMs > maxTurnMs) await rm(path, { force: true });
    return undefined;
  },
  start: (place, options, { onData, onEnd }) => {
    const log = openSync(join(place.folder, "log"), "w", ownerFile);
    const child = spawn(process.execPath, childArguments(place), {
      // A session of its own: a Ctrl-C at the terminal is not for it.
      detached: true,
      stdio: ["pipe", "pipe", log],
      env: childEnvironment(process.env),
      windowsHide: true,
    });
    closeSync(log);
    child.once("error", onEnd);
    child.once("exit", onEnd);
    child.stdin?.on("error", () => {});
    child.stdin?.end(options);
    child.stdout?.on("data", (chunk: Uint8Array) => {
      onData(chunk);
      child.stdout?.destroy();
      child.unref();
    });
  },
};

/** Windows has no sockets that files protect. */
export const hosts: HostPlatform | undefined = process.platform === "win32" ? undefined : unixHosts;

function placeOf(dataDir: string): Pick<HostPlace, "folder" | "socket"> {
  const folder = join(dataDir, "host");
  const socket = join(folder, "socket");
  if (new TextEncoder().encode(socket).length <= maxPathBytes) return { folder, socket };
  const runtimeFolder = process.env["XDG_RUNTIME_DIR"];
  const short = createHash("sha256").update(dataDir).digest("hex").slice(0, 16);
  const elsewhere = runtimeFolder && join(runtimeFolder, "static", short);
  if (elsewhere && new TextEncoder().encode(join(elsewhere, "socket")).length <= maxPathBytes) {
    return { folder: elsewhere, socket: join(elsewhere, "socket") };
  }
  const text =
    `Cannot use a host: the path of ${dataDir} is too long for a socket; set XDG_RUNTIME_DIR to a folder of this ` +
    "user with a short path, or move the directory";
  throw createError("invalid_request", text);
}

/** No link, ours, and closed to others. */
async function checkFolder(folder: string): Promise<void> {
  const found = await lstat(folder);
  const user = process.getuid?.();
  if (!found.isDirectory()) throw unsafe(folder, "it is no folder, or a link to one");
  if (user === undefined) return;
  if (found.uid !== user) throw unsafe(folder, "it belongs to another user");
  if ((found.mode & 0o022) !== 0) throw unsafe(folder, "others may write to it");
  if ((found.mode & 0o077) !== 0) await chmod(folder, ownerFolder);
}

function wireOf(socket: Socket, { onData, onEnd }: HostEnds): HostWire {
  socket.removeAllListeners("error");
  socket.on("error", () => socket.destroy());
  socket.on("data", onData);
  socket.once("close", onEnd);
  return {
    write: (bytes) => void socket.write(bytes),
    close: () => socket.destroy(),
  };
}

/** No socket, or one without a host behind it. */
function isNobody(error: unknown): boolean {
  return hasCode(error, "ENOENT", "ECONNREFUSED", "ENOTSOCK");
}

function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && codes.includes(String(Reflect.get(error, "code")));
}

function cannotReach(path: string, cause: Error): StaticError {
  return createError("connection_error", `Cannot reach the host at ${path}: ${cause.message}`, { cause });
}

function unsafe(folder: string, why: string): StaticError {
  return createError("not_allowed", `Cannot use a host: ${folder} is not safe: ${why}; remove it and try again`);
}
