/**
 * `trust.json` of this user, read again when it has changed: a name that a person gives an agent
 * counts at once.
 */
import { readFileSync, statSync } from "node:fs";
import { homedir, platform } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { nobodyKnown, parseTrust, type Trust, trustPath } from "../../proto/mod.ts";

/**
 * Between two looks: a person sees a name that was given just now, and a busy channel does not look
 * with each message.
 */
const lookMs = 500;
/** Far more than it ever has. */
const maxFileBytes = 1024 * 1024;

export interface TrustFile extends Trust {
  /** Looks now. */
  readonly look: () => void;
}

/** Returns undefined where there is no place for it. */
export function findTrust(): string | undefined {
  try {
    return trustPath({
      system: platform(),
      variable: (name) => process.env[name] || undefined,
      home: homedir,
      join,
    });
  } catch {
    return undefined; // Deno without permission, a user without a home
  }
}

/**
 * Nobody is known while the file is missing, or cannot be used: agents are shown as unverified
 * then.
 */
export function openTrust(path: string | undefined = findTrust()): TrustFile {
  let [known, mark, lookedMs] = [nobodyKnown, "", -Infinity];
  const look = (): void => {
    if (path === undefined) return;
    lookedMs = performance.now();
    const now = markOf(path);
    if (now === mark) return;
    mark = now;
    known = readTrust(path);
  };
  const current = (): Trust => {
    if (performance.now() - lookedMs >= lookMs) look();
    return known;
  };
  return {
    get names() {
      return current().names;
    },
    get domains() {
      return current().domains;
    },
    get mailDomains() {
      return current().mailDomains;
    },
    look,
  };
}

/** Changes with the file. */
function markOf(path: string): string {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found === undefined ? "" : `${found.ino} ${found.mtimeMs} ${found.size}`;
  } catch {
    return ""; // not ours to read
  }
}

function readTrust(path: string): Trust {
  try {
    return statSync(path).size <= maxFileBytes
      ? parseTrust(readFileSync(path, "utf8"), path)
      : nobodyKnown;
  } catch {
    return nobodyKnown;
  }
}
