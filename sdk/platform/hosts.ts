/**
 * Hosts of agents, for Node and Deno: a Unix socket in a folder that nobody else can enter. That
 * folder is the whole protection, because no JavaScript runtime tells the user at the other end of
 * a socket; so it is looked at before each use.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { closeSync, openSync, statSync } from "node:fs";
import { chmod, lstat, open, realpath, rm, stat, utimes } from "node:fs/promises";
import type { Socket } from "node:net";
import { dirname, join } from "node:path";
import process from "node:process";
import { createError, type StaticError } from "../base/errors.ts";
import { refusalOf } from "../store/mod.ts";
import { hasCode } from "./errno.ts";
import { childArguments, childEnvironment } from "./host_child.ts";
import type { HostEnds, HostPlace, HostPlatform, HostWire } from "./platform.ts";
import { makeOwnerFolder, ownerFolder } from "./owner_folder.ts";
import { connectPath } from "./unix_sockets.ts";

const ownerFile = 0o600;
/** Length of a socket's path that every system allows. */
const maxPathBytes = 100;
const maxLogBytes = 64 * 1024;
/**
 * The holder of the turn writes a sign of life every second; one that stops for a while was killed.
 */
const [turnBeatMs, maxTurnMs] = [1_000, 5_000];

const unixHosts: HostPlatform = {
  place: async (dataDir) => {
    await makeFolder(dataDir);
    const real = await realpath(dataDir);
    const place = { dataDir: real, ...placeOf(real) };
    await makeFolder(place.folder);
    await checkParent(dirname(place.folder));
    await checkFolder(place.folder);
    return place;
  },
  connect: ({ socket: path }, ends) =>
    connectPath(path).then((socket) => wireOf(socket, ends), (error) => {
      if (isNobody(error)) return undefined;
      throw cannotReach(path, error);
    }),
  takeTurn: async ({ folder }) => {
    const path = join(folder, "starting");
    try {
      await (await open(path, "wx", ownerFile)).close();
      return holdTurn(path);
    } catch (error) {
      if (!hasCode(error, "EEXIST")) throw unwritable(error);
    }
    const takenMs = await stat(path).then(({ mtimeMs }) => mtimeMs, () => Date.now());
    if (Math.abs(Date.now() - takenMs) > maxTurnMs) await rm(path, { force: true });
    return undefined;
  },
  start: (place, { frame, readable }, { onData, onEnd }) => {
    const log = openLog(join(place.folder, "log"));
    const child = spawn(process.execPath, childArguments(place, readable), {
      // A session of its own: a Ctrl-C at the terminal is not for it. Nor does it keep the folder
      // of its starter busy.
      detached: true,
      cwd: "/",
      stdio: ["pipe", "pipe", log],
      env: childEnvironment(process.env),
      windowsHide: true,
    });
    closeSync(log);
    child.on("error", onEnd);
    // Not its exit: what it said last may still be on its way.
    child.once("close", onEnd);
    child.stdin?.on("error", () => {});
    child.stdin?.end(frame);
    child.stdout?.on("error", () => {});
    child.stdout?.on("data", onData);
    return () => {
      child.stdout?.destroy();
      child.unref();
    };
  },
};

/**
 * Appended to: a program that loses the race to start a host must not cut the log of the one that
 * runs.
 */
function openLog(path: string): number {
  const { size } = statSync(path, { throwIfNoEntry: false }) ?? { size: 0 };
  return openSync(path, size > maxLogBytes ? "w" : "a", ownerFile);
}

async function makeFolder(path: string): Promise<void> {
  try {
    await makeOwnerFolder(path);
  } catch (error) {
    throw unwritable(error);
  }
}

function holdTurn(path: string): () => Promise<void> {
  const say = (): void => {
    const now = new Date();
    utimes(path, now, now).catch(() => {});
  };
  const beat = setInterval(say, turnBeatMs);
  return async () => {
    clearInterval(beat);
    await rm(path, { force: true });
  };
}

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

/** Nobody else can exchange what is in it. */
async function checkParent(folder: string): Promise<void> {
  const user = process.getuid?.();
  if (user === undefined) return;
  const { uid, mode } = await stat(folder);
  if (uid !== user && uid !== 0) throw unsafe(folder, "it belongs to another user");
  // In a folder like /tmp others may make files, but not rename ours.
  if ((mode & 0o022) !== 0 && (mode & 0o1000) === 0) {
    throw createError(
      "not_allowed",
      `Cannot use a host: others may write to ${folder}; forbid it with: chmod go-w ${folder}`,
    );
  }
}

/** No link, ours, and closed to others. */
async function checkFolder(folder: string): Promise<void> {
  const found = await lstat(folder);
  const user = process.getuid?.();
  if (!found.isDirectory()) throw unsafe(folder, "it is not a folder, or a link to one");
  if (user === undefined) return;
  if (found.uid !== user) throw unsafe(folder, "it belongs to another user");
  if ((found.mode & 0o022) !== 0) throw unsafe(folder, "others may write to it");
  if ((found.mode & 0o077) !== 0) await chmod(folder, ownerFolder);
}

function wireOf(socket: Socket, { onData, onEnd }: HostEnds): HostWire {
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

function cannotReach(path: string, cause: Error): StaticError {
  return createError("connection_error", `Cannot reach the host at ${path}: ${cause.message}`, {
    cause,
  });
}

function unwritable(cause: unknown): StaticError {
  const { code, message } = refusalOf("Cannot use a host", cause);
  return createError(code, message, { cause });
}

function unsafe(folder: string, why: string): StaticError {
  return createError(
    "not_allowed",
    `Cannot use a host: ${folder} is not safe: ${why}; remove it and try again`,
  );
}
