/**
 * Regenerates what is checked in: the messages of `proto/relay.proto` and of gRPC's own services, the page of the protocol's
 * fields, the pages of errors, limits, variables and SDK, the modules of `wasm/assembly`, the threads of the SDK, the
 * CLI's reference and the table of benchmarks.
 * With `--check` it writes nothing and fails when what is checked in differs. Everything it needs comes from npm; no network is
 * used by the generators themselves.
 */
import { dirname } from "node:path";
import { describe, newestResults, tableOf } from "../bench/table.ts";
import { commands, renderReference } from "../cli/mod.ts";
import { renderContract } from "./contract.ts";
import { createWasmGenerator, wasmModules } from "./generate_wasm.ts";
import { createWorkerGenerator } from "./generate_workers.ts";
import { npmProjectFlags } from "./npm.ts";
import { renderConfiguration } from "./pages/configuration_page.ts";
import { renderErrors } from "./pages/errors_page.ts";
import { renderLimits } from "./pages/limits_page.ts";
import { renderSdk } from "./pages/sdk_page.ts";

const generateWasm = createWasmGenerator();
const generateWorker = createWorkerGenerator();
const targets = [
  { path: "proto/gen/relay_pb.ts", source: "proto/relay.proto", generate: () => generateProto("proto", "relay") },
  {
    path: "relay/grpc/health/gen/health_pb.ts",
    source: "relay/grpc/health/health.proto",
    generate: () => generateProto("relay/grpc/health", "health"),
  },
  ...wasmModules.map((name) => ({
    path: `wasm/gen/${name}.ts`,
    source: `wasm/assembly/${name}`,
    generate: () => generateWasm(name),
  })),
  {
    path: "docs/protocol_fields.md",
    source: "proto/operations.ts",
    generate: () => format(renderContract()),
  },
  { path: "docs/errors.md", source: "proto/errors.ts", generate: () => format(renderErrors()) },
  {
    path: "docs/configuration.md",
    source: "the parts' own tables",
    generate: () => format(renderConfiguration((page) => Deno.readTextFileSync(page))),
  },
  {
    path: "docs/limits.md",
    source: "the limits of API and relay",
    generate: () => format(renderLimits((file) => Deno.readTextFileSync(file))),
  },
  { path: "docs/sdk.md", source: "sdk/mod.ts", generate: async () => format(await renderSdk("./")) },
  { path: "docs/cli.md", source: "cli/command_table.ts", generate: generateCliReference },
  { path: "docs/performance.md", source: "the newest of bench/results", generate: generateBenchmarks },
  ...(["deno", "node", "browser"] as const).map((runtime) => ({
    path: `sdk/gen/${runtime}_worker.ts`,
    source: `sdk/platform/${runtime}_worker.ts`,
    generate: () => generateWorker(runtime),
  })),
];

/** By folder: one run of the generator makes the code of all its files. */
const generatedProtos = new Map<string, Promise<ReadonlyMap<string, string>>>();

async function generateProto(folder: string, name: string): Promise<string> {
  const made = generatedProtos.get(folder) ?? generateProtos(folder);
  generatedProtos.set(folder, made);
  const text = (await made).get(`${name}_pb.ts`);
  if (text === undefined) throw new Error(`Nothing was generated from ${folder}/${name}.proto`);
  return text;
}

async function generateProtos(folder: string): Promise<ReadonlyMap<string, string>> {
  const out = await Deno.makeTempDir();
  try {
    const template = {
      version: "v2",
      plugins: [{
        local: [Deno.execPath(), "run", "-A", ...npmProjectFlags, "@bufbuild/protoc-gen-es"],
        out,
        opt: ["target=ts", "import_extension=ts"],
      }],
    };
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "-A",
        ...npmProjectFlags,
        "@bufbuild/buf",
        "generate",
        folder,
        "--template",
        JSON.stringify(template),
      ],
    }).output();
    if (!success) throw new Error(`Cannot generate from the files of ${folder}: ${new TextDecoder().decode(stderr)}`);
    const files = (await Array.fromAsync(Deno.readDir(out))).filter(({ isFile }) => isFile);
    return new Map(
      await Promise.all(files.map(async ({ name }) => [name, await Deno.readTextFile(`${out}/${name}`)] as const)),
    );
  } finally {
    await Deno.remove(out, { recursive: true });
  }
}

/** The text before the reference is written by hand. */
async function generateCliReference(): Promise<string> {
  const page = await Deno.readTextFile("docs/cli.md");
  return page.slice(0, page.indexOf("## static\n")) + renderReference(commands);
}

const [tableBegins, tableEnds] = ["<!-- benchmarks -->\n", "<!-- end of benchmarks -->"];

/** The comparisons for which something was promised; the rest is in the file. */
async function generateBenchmarks(): Promise<string> {
  const page = await Deno.readTextFile("docs/performance.md");
  const { machine, results } = await newestResults();
  const promised = results.filter(({ target }) => target !== undefined);
  const section = `\n${describe(machine)}:\n\n${tableOf(promised)}\n\n`;
  const [begin, end] = [page.indexOf(tableBegins) + tableBegins.length, page.indexOf(tableEnds)];
  return await format(page.slice(0, begin) + section + page.slice(end));
}

/** A page. */
async function format(text: string): Promise<string> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["fmt", "--quiet", "--ext=md", "-"],
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
