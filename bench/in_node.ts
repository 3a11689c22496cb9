/** Runs a benchmark in Node: `deno run -A bench/in_node.ts bench/aes.ts`. */
import { createProject } from "../tools/bundle.ts";

const [file = "bench/aes.ts"] = Deno.args;
const project = await createProject();
try {
  const bundle = await project.bundle(new URL(file, `file://${Deno.cwd()}/`), "node");
  const { code } = await new Deno.Command("node", { args: [bundle] }).spawn().status;
  Deno.exitCode = code;
} finally {
  await project[Symbol.asyncDispose]();
}
