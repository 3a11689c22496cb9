/** Builds `wasm/assembly` into the base64 module that is checked in. The compiler is pinned, so the bytes are reproducible. */
import asc from "assemblyscript/asc";

const folder = "wasm/assembly/";
/** `stub`: nothing is allocated inside. Memory starts with room for the window and a few keys, and ends at 256 MiB. */
const flags =
  "-O3 --converge --noAssert --runtime stub --enable simd --initialMemory 2 --maximumMemory 4096 --outFile module.wasm"
    .split(" ");

export async function buildWasm(): Promise<Uint8Array<ArrayBuffer>> {
  let binary: Uint8Array<ArrayBuffer> | undefined;
  const { error, stderr } = await asc.main([`${folder}index.ts`, ...flags], {
    readFile: async (name) => name.startsWith(folder) ? await Deno.readTextFile(name).catch(() => null) : null,
    writeFile: (_name, contents) => {
      if (contents instanceof Uint8Array) binary = new Uint8Array(contents);
    },
    listFiles: () => [],
  });
  if (error !== null || binary === undefined) throw new Error(`Cannot build ${folder}: ${stderr.toString()}`);
  return binary;
}

export async function generateWasm(): Promise<string> {
  const text = btoa(String.fromCharCode(...await buildWasm()));
  const lines = text.match(/.{1,110}/g)?.map((line) => `  "${line}"`).join(" +\n");
  return `/** Built from wasm/assembly by tools/generate_wasm.ts; do not edit. */\nexport const moduleBase64 =\n${lines};\n`;
}
