/** Compiles AssemblyScript and prints the module's bytes; arguments: the folder, its entry, then flags of the compiler. */
import asc from "assemblyscript/asc";

const [folder = "", entry = "", ...flags] = Deno.args;
const built: Uint8Array<ArrayBuffer>[] = [];
const { error, stderr } = await asc.main([folder + entry, ...flags, "--outFile", "module.wasm"], {
  readFile: async (name) => name.startsWith(folder) ? await Deno.readTextFile(name).catch(() => null) : null,
  writeFile: (_name, contents) => {
    if (contents instanceof Uint8Array) built.push(new Uint8Array(contents));
  },
  listFiles: () => [],
});
const [module] = built;
if (error !== null || module === undefined) {
  console.error(stderr.toString());
  Deno.exit(1);
}
await new Response(module).body?.pipeTo(Deno.stdout.writable);
