/**
 * Regenerates what is checked in: `proto/relay.proto`, the page of the protocol's fields, lists of
 * errors, limits, claims and the SDK's methods, the modules of `wasm/assembly`, table and blocking
 * face of the Python package, the threads of the SDK, the CLI's reference and the table of
 * benchmarks. With `--check` it writes nothing and fails when what is checked in differs.
 * Everything it needs comes from npm; no network is used by the generators themselves.
 */
import { dirname } from "node:path";
import { describe, newestResults, tableOf } from "../bench/table.ts";
import { commands, renderReference } from "../cli/mod.ts";
import { renderBlocking, renderPythonTable } from "./generate_python.ts";
import { createWasmGenerator, wasmModules } from "./generate_wasm.ts";
import { createWorkerGenerator } from "./generate_workers.ts";
import { renderClaims } from "./pages/claims_list.ts";
import { renderErrors } from "./pages/errors_page.ts";
import { renderFields } from "./pages/fields_page.ts";
import { renderHost } from "./pages/host_page.ts";
import { renderLimits } from "./pages/limits_page.ts";
import { renderRelayProto } from "./pages/relay_proto.ts";
import { renderSdk } from "./pages/sdk_page.ts";

const generateWasm = createWasmGenerator();
const generateWorker = createWorkerGenerator();
const python = "sdk/python/src/static_sdk";
const targets = [
  {
    path: "proto/relay.proto",
    source: "proto/wire/operations.ts",
    generate: () => renderRelayProto((file) => Deno.readTextFileSync(file)),
  },
  ...wasmModules.map((name) => ({
    path: `wasm/gen/${name}.ts`,
    source: `wasm/assembly/${name}`,
    generate: () => generateWasm(name),
  })),
  {
    path: "docs/protocol_fields.md",
    source: "proto/wire/operations.ts",
    generate: () => format(renderFields()),
  },
  {
    path: "docs/troubleshooting.md",
    source: "proto/base/errors.ts",
    generate: async () => format(renderErrors(await Deno.readTextFile("docs/troubleshooting.md"))),
  },
  {
    path: "docs/capacity.md",
    source: "the limits of API and relay",
    generate: () => format(renderLimits((file) => Deno.readTextFileSync(file))),
  },
  {
    path: "docs/sdk.md",
    source: "sdk/mod.ts",
    generate: async () => format(await renderSdk("./")),
  },
  {
    path: "docs/host.md",
    source: "proto/host/operations.ts",
    generate: async () => format(renderHost(await Deno.readTextFile("docs/host.md"))),
  },
  {
    path: "docs/claims.json",
    source: "the marks of the security pages",
    generate: () => {
      const read = (path: string): string => Deno.readTextFileSync(path);
      return format(renderClaims(JSON.parse(read("docs/claims.json")), read), "json");
    },
  },
  { path: "docs/cli.md", source: "cli/command_table.ts", generate: generateCliReference },
  {
    path: "bench/README.md",
    source: "the newest of bench/results",
    generate: generateBenchmarks,
  },
  ...(["deno", "node", "browser"] as const).map((runtime) => ({
    path: `sdk/gen/${runtime}_worker.ts`,
    source: `sdk/platform/${runtime}_worker.ts`,
    generate: () => generateWorker(runtime),
  })),
  {
    path: `${python}/table.py`,
    source: "proto/host/operations.ts",
    generate: () => Promise.resolve(renderPythonTable()),
  },
  {
    path: `${python}/blocking.py`,
    source: `${python}/aio.py`,
    generate: async () => renderBlocking(await Deno.readTextFile(`${python}/aio.py`)),
  },
];

/** The text before the reference is written by hand. */
async function generateCliReference(): Promise<string> {
  const page = await Deno.readTextFile("docs/cli.md");
  return await format(page.slice(0, page.indexOf("## Exit codes\n")) + renderReference(commands));
}

const [tableBegins, tableEnds] = ["<!-- benchmarks -->\n", "<!-- end of benchmarks -->"];

/** The comparisons for which something was promised; the rest is in the file. */
async function generateBenchmarks(): Promise<string> {
  const page = await Deno.readTextFile("bench/README.md");
  const { machine, results } = await newestResults();
  const promised = results.filter(({ target }) => target !== undefined);
  const section = `\n${describe(machine)}:\n\n${tableOf(promised)}\n\n`;
  const [begin, end] = [page.indexOf(tableBegins) + tableBegins.length, page.indexOf(tableEnds)];
  return await format(page.slice(0, begin) + section + page.slice(end));
}

async function format(text: string, kind: "md" | "json" = "md"): Promise<string> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["fmt", "--quiet", `--ext=${kind}`, "-"],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const input = child.stdin.getWriter();
  await input.write(new TextEncoder().encode(text));
  await input.close();
  const { success, stdout } = await child.output();
  if (!success) throw new Error("Cannot format a page");
  return new TextDecoder().decode(stdout);
}

const check = Deno.args.includes("--check");
for (const { path, source, generate } of targets) {
  const fresh = await generate();
  if (!check) {
    await Deno.mkdir(dirname(path), { recursive: true });
    await Deno.writeTextFile(path, fresh);
    console.log(`wrote ${path}`);
  } else if (await Deno.readTextFile(path).catch(() => "") === fresh) {
    console.log(`${path} is current`);
  } else {
    console.error(`${path} is not what ${source} generates; run: deno task generate`);
    Deno.exitCode = 1;
  }
}
