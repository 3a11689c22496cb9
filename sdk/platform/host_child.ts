/** How a host is started: the runtime's arguments, with no more rights than it needs, and an environment without secrets. */
import { createRequire as requireFrom } from "node:module";
import { dirname } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { HostPlace } from "./platform.ts";

/** Where things are; nothing of it is secret. */
const passedOn = [
  "PATH",
  "HOME",
  "TMPDIR",
  "LANG",
  "DENO_DIR",
  "DENO_TLS_CA_STORE",
  "SystemRoot",
  "USERPROFILE",
  "APPDATA",
];

/** Only what stands on the list: the program's own variables may hold anything. */
export function childEnvironment(variables: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const known = passedOn.flatMap((name) => {
    const value = variables[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(known), NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" };
}

export function childArguments(place: HostPlace): string[] {
  const own = import.meta.url;
  const script = fileURLToPath(new URL(`../driver/main${own.slice(own.lastIndexOf("."))}`, own));
  const program = [script, "socket", place.dataDir];
  return process.versions["deno"] === undefined ? program : ["run", ...denoRights(place), ...program];
}

/** The agent's folder and the socket's; the network, because any relay and API may be named; and the store's native library. */
function denoRights({ dataDir, folder }: HostPlace): string[] {
  const library = findLibrary();
  const folders = [...new Set([dataDir, folder])].join(",");
  return [
    "--no-prompt",
    "--quiet",
    "--unstable-net",
    "--allow-net",
    // The last one is looked for by the loader of that library.
    `--allow-read=${[folders, ...library, "/etc/alpine-release"].join(",")}`,
    `--allow-write=${folders}`,
    `--allow-ffi${library.length === 0 ? "" : `=${library.join(",")}`}`,
    "--allow-env",
    "--allow-sys=uid",
  ];
}

/** The folder of `classic-level`, whose native part is the only one. */
function findLibrary(): string[] {
  try {
    return [dirname(requireFrom(import.meta.url).resolve("classic-level"))];
  } catch {
    return [];
  }
}
