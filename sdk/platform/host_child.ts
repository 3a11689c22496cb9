/**
 * How a host is started: the runtime's arguments, with no more rights than it needs, and an
 * environment without secrets.
 */
import { createRequire as requireFrom } from "node:module";
import { dirname } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { HostPlace } from "./platform.ts";

/**
 * Where things are, what the system trusts, and the way to the network: what works without a host
 * works with one.
 */
const passedOn = [
  "PATH",
  "HOME",
  "TMPDIR",
  "LANG",
  "DENO_DIR",
  "DENO_TLS_CA_STORE",
  "DENO_CERT",
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  ...["ALL_PROXY", "HTTPS_PROXY", "NO_PROXY"].flatMap((name) => [name, name.toLowerCase()]),
];

/**
 * Variables that `node-gyp-build` reads before it loads the store's library; it fails where it may
 * not.
 */
const askedByLoader = [
  "PREBUILDS_ONLY",
  "ELECTRON_RUN_AS_NODE",
  "npm_config_arch",
  "npm_config_platform",
  "LIBC",
  "ARM_VERSION",
];

/** Only what stands on the list: the program's own variables may hold anything. */
export function childEnvironment(
  variables: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const known = passedOn.flatMap((name) => {
    const value = variables[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(known), NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" };
}

/** `readable`: files of the user that it may read. */
export function childArguments(place: HostPlace, readable: readonly string[]): string[] {
  const own = import.meta.url;
  const script = fileURLToPath(
    new URL(`../host/server/main${own.slice(own.lastIndexOf("."))}`, own),
  );
  const program = [script, "socket", place.dataDir];
  return process.versions["deno"] === undefined
    ? program
    : ["run", ...denoRights(place, readable), ...program];
}

/**
 * The agent's folder and the socket's; the list of known agents; the network, because any relay and
 * API may be named; and the store's native library.
 */
function denoRights({ dataDir, folder }: HostPlace, readable: readonly string[]): string[] {
  const library = findLibrary();
  const folders = [dataDir, folder];
  return [
    "--no-prompt",
    "--quiet",
    "--no-check",
    "--unstable-net",
    "--allow-net",
    // The last one is looked for by the loader of that library.
    `--allow-read=${listed([...folders, ...readable, library, "/etc/alpine-release"])}`,
    `--allow-write=${listed(folders)}`,
    `--allow-ffi=${listed([library])}`,
    `--allow-env=${listed(["STATIC_*", "HOME", "XDG_CONFIG_HOME", ...askedByLoader])}`,
    "--allow-sys=uid",
  ];
}

/** Deno reads a doubled comma as one that belongs to the path. */
function listed(paths: readonly string[]): string {
  return [...new Set(paths)].map((path) => path.replaceAll(",", ",,")).join(",");
}

/** The folder of `classic-level`, whose native part is the only one. */
function findLibrary(): string {
  return dirname(requireFrom(import.meta.url).resolve("classic-level"));
}
