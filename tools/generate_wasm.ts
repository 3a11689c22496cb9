/**
 * Builds the folders of `wasm/assembly` into the base64 modules that are checked in. The compiler
 * is pinned, so the bytes are reproducible.
 */
import { runNpmScript } from "./npm.ts";

/** `stub`: nothing is allocated inside. */
const flags = "-O3 --converge --noAssert --runtime stub --enable simd".split(" ");

/**
 * Pages of 64 KiB at the start and at most. Keys of AES-256-GCM are added one by one, up to 256
 * MiB.
 */
const pages = {
  aes256gcm: { initial: 2, maximum: 4096 },
  chacha20poly1305: { initial: 2, maximum: 2 },
  edwards25519: { initial: 7, maximum: 7 },
  sha256: { initial: 1, maximum: 1 },
} as const;

export type WasmModule = keyof typeof pages;
// cast: the keys of an object that is written above
export const wasmModules = Object.keys(pages) as WasmModule[];

/** All modules are built at the first call, by one process. */
export function createWasmGenerator(): (name: WasmModule) => Promise<string> {
  const made: { all?: Promise<readonly string[]> } = {};
  return async (name) =>
    describe(name, (await (made.all ??= assembleAll()))[wasmModules.indexOf(name)] ?? "");
}

async function assembleAll(): Promise<readonly string[]> {
  const assemblies = wasmModules.map((name) => {
    const { initial, maximum } = pages[name];
    const memory = ["--initialMemory", String(initial), "--maximumMemory", String(maximum)];
    return { folder: `wasm/assembly/${name}/`, entry: "index.ts", flags: [...flags, ...memory] };
  });
  const printed = await runNpmScript("assemble.ts", { args: [JSON.stringify(assemblies)] });
  return new TextDecoder().decode(printed).trimEnd().split("\n");
}

function describe(name: WasmModule, base64: string): string {
  const lines = base64.match(/.{1,110}/g)?.map((line) => `  "${line}"`).join(" +\n");
  const source = `Built from wasm/assembly/${name} by tools/generate_wasm.ts; do not edit.`;
  return `/** ${source} */\nexport const moduleBase64 =\n${lines};\n`;
}
