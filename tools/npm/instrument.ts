/**
 * Reads a WebAssembly module and prints, as JSON, its text and a copy that reports every memory
 * address and every place that execution passes.
 */
import binaryen from "assemblyscript/binaryen";

const module = binaryen.readBinary(
  new Uint8Array(await new Response(Deno.stdin.readable).arrayBuffer()),
);
module.setFeatures(binaryen.Features.All);
const text = module.emitText();
module.runPasses(["instrument-memory", "log-execution"]);
console.log(JSON.stringify({ text, module: new Uint8Array(module.emitBinary()).toBase64() }));
