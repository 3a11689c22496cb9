/**
 * Compiles AssemblyScript, one module after the other in one process: to load the compiler takes
 * longer than to compile. The argument is a list of `{ folder, entry, flags }` as JSON; prints the
 * modules' bytes in base64, a line each.
 */
import asc from "assemblyscript/asc";

interface Assembly {
  readonly folder: string;
  readonly entry: string;
  /** Flags of the compiler. */
  readonly flags: readonly string[];
}

async function assemble({ folder, entry, flags }: Assembly): Promise<string> {
  const built: Uint8Array<ArrayBuffer>[] = [];
  const { error, stderr } = await asc.main([folder + entry, ...flags, "--outFile", "module.wasm"], {
    readFile: async (name) =>
      name.startsWith(folder) ? await Deno.readTextFile(name).catch(() => null) : null,
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
  return module.toBase64();
}

const assemblies: readonly Assembly[] = JSON.parse(Deno.args[0] ?? "[]");
for (const assembly of assemblies) console.log(await assemble(assembly));
