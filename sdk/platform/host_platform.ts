/**
 * The part of Node's and Deno's platform that a program needs which leaves its agent to a host: no
 * store, no network, little to load.
 */
import { readFile } from "node:fs/promises";
import { hosts } from "./hosts.ts";
import type { Platform } from "./platform.ts";
import { readSettings } from "./settings.ts";
import { after, nowMs, randomBytes } from "./timers.ts";
import { findTrust } from "./trust_file.ts";

export type HostedPlatform = Pick<
  Platform,
  "hosts" | "nowMs" | "after" | "randomBytes" | "readSettings" | "readTextFile" | "findTrust"
>;

export const hostPlatform: HostedPlatform = {
  hosts,
  nowMs,
  after,
  randomBytes,
  readSettings,
  readTextFile: (path) => readFile(path, "utf8"),
  findTrust,
};
