/** Builds `wasm/assembly` into the base64 module that is checked in. The compiler is pinned, so the bytes are reproducible. */
import { runNpmScript } from "./npm.ts";

/** `stub`: nothing is allocated inside. Memory starts with room for the window and a few keys, and ends at 256 MiB. */
const flags = "-O3 --converge --noAssert --runtime stub --enable simd --initialMemory 2 --maximumMemory 4096"
  .split(" ");

export async function generateWasm(): Promise<string> {
  const module = await runNpmScript("assemble.ts", { args: ["wasm/assembly/", "index.ts", ...flags] });
  const lines = module.toBase64().match(/.{1,110}/g)?.map((line) => `  "${line}"`).join(" +\n");
  return `/** Built from wasm/assembly by tools/generate_wasm.ts; do not edit. */\nexport const moduleBase64 =\n${lines};\n`;
}
