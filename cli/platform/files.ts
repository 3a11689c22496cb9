/**
 * Files of the user. Everything that the CLI writes is secret or private, so all of it is for its
 * owner alone.
 */
import { Buffer } from "node:buffer";
import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { chmod, mkdtemp, open, readdir, rename, rm, stat } from "node:fs/promises";
import { homedir, platform, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import { credentialsPath, trustPath } from "../../proto/mod.ts";
import { makeOwnerFolder, ownerFolder } from "../../sdk/machine.ts";
import type { UserFiles, UserFolders } from "./platform.ts";

const ownerFile = 0o600;
/** Attempts to remove a folder that an ending process still uses, a tenth of a second apart. */
const maxRemovals = 50;
/** Credentials and certificates are far smaller. */
const maxFileBytes = 1024 * 1024;

export function findFolders(variable: (name: string) => string | undefined): UserFolders {
  const system = platform();
  const local = system === "win32" ? variable("LOCALAPPDATA") : undefined;
  const usual = system === "darwin" ? ["Library", "Application Support"] : [".local", "share"];
  const state = variable("XDG_DATA_HOME") ?? local ?? join(homedir(), ...usual);
  const places = { system, variable, home: homedir, join };
  return {
    credentialsFile: credentialsPath(places),
    trustFile: trustPath(places),
    agents: join(state, "static", "agents"),
    current: process.cwd(),
  };
}

export const files: UserFiles = {
  read: async (path) => {
    try {
      // Counted while it is read: a device says that it has none.
      const pieces: Uint8Array[] = [];
      let size = 0;
      for await (const piece of createReadStream(path, { end: maxFileBytes })) {
        pieces.push(piece);
        size += piece.length;
      }
      if (size > maxFileBytes) {
        throw new RangeError(
          `${path} has more than ${maxFileBytes} bytes, which is too much to be right`,
        );
      }
      return Buffer.concat(pieces).toString("utf8");
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  },
  writePrivate: async (path, text) => {
    await makeOwnerFolder(dirname(path));
    const fresh = `${path}.${randomUUID()}.new`;
    try {
      const file = await open(fresh, "wx", ownerFile);
      try {
        await file.writeFile(text);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(fresh, path);
    } catch (error) {
      await rm(fresh, { force: true });
      throw error;
    }
  },
  remove: async (path) => {
    for (let tries = 1;; tries++) {
      try {
        return await rm(path, { recursive: true, force: true });
      } catch (error) {
        // A process that ends still writes its last words there.
        const isBusy = error instanceof Error && "code" in error && error.code === "ENOTEMPTY";
        if (!isBusy || tries === maxRemovals) throw error;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  },
  list: async (folder) => {
    try {
      return (await readdir(folder)).sort();
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  },
  mode: async (path) => {
    if (platform() === "win32") return undefined;
    try {
      return (await stat(path)).mode & 0o777;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  },
  makePrivateFolder: async (path) => {
    await makeOwnerFolder(path);
    await chmod(path, ownerFolder);
  },
  makeTemporaryFolder: () => mkdtemp(join(tmpdir(), "static-")),
  absolute: (path) => resolve(path),
  join: (...parts) => join(...parts),
};

function isMissing(error: unknown): boolean {
  return error instanceof Error &&
    ["ENOENT", "ENOTDIR"].includes(String(Reflect.get(error, "code")));
}
