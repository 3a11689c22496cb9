/**
 * The packages of the project, as one table: what each exports beside the name and the version that all share. Each one's
 * `deno.json` is generated from it, and the import check lets nothing else through from package to package.
 */
import { version } from "../proto/mod.ts";

/** One runtime each, so that no other has to load it. */
const sdkPlatforms = [
  "browser",
  "browser_store",
  "deno",
  "directory_store",
  "node",
  "node_ed25519",
  "node_sha256",
  "node_x25519",
];

/**
 * By folder: names under which others import, and the modules behind them. Beside `mod.ts`: what would burden a browser that
 * needs the rest of `proto`, its version alone, what to do about errors, and how names are shown; the HTTP/2 server and the engine, which know nothing of their package; limits and the wrapper of secrets,
 * which the API's domain and the relay's core need without the sockets and files in the rest of `server`; the configurations of API and relay, which
 * `start.ts` reads without loading both; an agent through its host, without the
 * rest of the SDK; A2A over channels, whose package nobody else needs; and the platforms.
 */
export const packages: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  proto: {
    ".": "./mod.ts",
    "./grpc": "./grpc.ts",
    "./lease": "./lease.ts",
    "./changes": "./changes.ts",
    "./version": "./version.ts",
    "./error_advice": "./error_advice.ts",
    "./shown_text": "./shown_text.ts",
  },
  wasm: { ".": "./mod.ts" },
  server: { ".": "./mod.ts", "./http2": "./http2/mod.ts", "./limits": "./limits/mod.ts", "./secret": "./secret.ts" },
  api: { ".": "./mod.ts", "./config": "./config.ts" },
  relay: { ".": "./mod.ts", "./config": "./config.ts", "./engine": "./engine/mod.ts" },
  sdk: {
    ".": "./mod.ts",
    "./a2a": "./a2a/mod.ts",
    "./hosted": "./hosted.ts",
    "./machine": "./machine.ts",
    ...Object.fromEntries(sdkPlatforms.map((name) => [`./platform/${name}`, `./platform/${name}.ts`])),
  },
  cli: { ".": "./mod.ts" },
};

/** Every module that another package may import, as a path in the repository. */
export const entryPoints: ReadonlySet<string> = new Set(
  Object.entries(packages).flatMap(([folder, exports]) =>
    Object.values(exports).map((module) => `${folder}/${module.slice("./".length)}`)
  ),
);

/** The text of a package's `deno.json`. */
export function packageConfig(folder: string): string {
  return JSON.stringify({ name: `@static/${folder}`, version, exports: packages[folder] }, null, 2) + "\n";
}
