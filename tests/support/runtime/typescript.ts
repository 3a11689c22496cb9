/**
 * TypeScript as users compile with it: the oldest version that the package supports and the newest,
 * for Node and for bundlers, strict, and with the declarations of packages checked too.
 */
import { runCommand } from "../mod.ts";

/** Names in `tools/npm/deno.json`, for the project in which files are compiled. */
export const typescripts = ["typescript-5.0", "typescript"] as const;

interface Compiler {
  readonly typescript: typeof typescripts[number];
  readonly module: string;
  readonly moduleResolution: string;
}

export const compilers: readonly Compiler[] = typescripts.flatMap((typescript) => [
  { typescript, module: "node16", moduleResolution: "node16" },
  { typescript, module: "esnext", moduleResolution: "bundler" },
]);

interface Sources {
  /**
   * A folder with a `package.json`; TypeScript is found in `node_modules` of the folder above it.
   */
  readonly folder: string;
  readonly files: readonly string[];
  /** Packages whose global declarations the files need. */
  readonly types?: readonly string[];
}

/** Throws with the compiler's errors. */
export async function compileWith(
  compiler: Compiler,
  { folder, files, types = [] }: Sources,
): Promise<void> {
  const { typescript, ...modules } = compiler;
  const strict = {
    noEmit: true,
    strict: true,
    skipLibCheck: false,
    target: "es2022",
    lib: ["es2022", "dom"],
  };
  const compilerOptions = { ...strict, ...modules, types };
  await Deno.writeTextFile(`${folder}/tsconfig.json`, JSON.stringify({ compilerOptions, files }));
  const tsc = `../node_modules/.deno/typescript@${await versionOf(
    typescript,
  )}/node_modules/typescript/bin/tsc`;
  await runCommand("node", [tsc, "-p", "."], { cwd: folder });
}

async function versionOf(typescript: string): Promise<string> {
  const { imports } = JSON.parse(
    await Deno.readTextFile(new URL("../../../tools/npm/deno.json", import.meta.url)),
  );
  return String(imports[typescript]).replace(/^.*@/, "");
}
