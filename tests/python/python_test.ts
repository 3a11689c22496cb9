// The Python package as a stranger gets it: a wheel, installed without a network into an
// environment of its own, and then used against a real API and a real relay with Deno as its
// driver, and with Node too in the campaign. Each Python test is a step here.
import { assertEquals } from "@std/assert";
import { version } from "../../proto/mod.ts";
import { buildWheel } from "../../tools/build_python.ts";
import { node } from "../support/runtime/node.ts";
import { stopHost } from "../support/hosts.ts";
import { relaySecret } from "../support/api/harness.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { installed, runCommand, testWhen } from "../support/mod.ts";
import { inCampaign } from "../support/campaign.ts";
import { findPython, python } from "../support/python.ts";
import { runsOf } from "../support/page_runs.ts";
import { useInTurn } from "./one_agent.ts";
import { suspendWhileSending } from "./suspended.ts";
import { type PythonResult, runPythonTests, showResults } from "./python_tests.ts";

const alone = [
  "test_prefetch",
  "test_frames",
  "test_groups",
  "test_errors",
  "test_settings",
  "test_runtime",
];
/**
 * Side by side, in two programs: each has agents that its tests share, so every program more is two
 * agents more.
 */
const withStack = [
  ["test_interface", "test_talking", "test_faults", "test_docstrings"],
  ["test_interrupts", "test_hosts", "test_links", "test_ownership", "test_badges"],
];
/**
 * The driver is one program, so by default the second runtime shows only that it connects and
 * creates a channel.
 */
const ofSecondRuntime = "test_endpoint.Endpoint.test_literal";

testWhen(python, "the Python package", async (t) => {
  await using folder = await temporaryFolder();
  const wheel = await buildWheel(`${folder.path}/one`);
  const venv = `${folder.path}/venv`;
  const interpreter = `${venv}/bin/python`;
  await t.step(
    "installs without an index into a fresh environment, and needs nothing beside it",
    async () => {
      const outside = await findPython() ?? "";
      await runCommand(outside, ["-m", "venv", "--without-pip", venv]);
      const flags = [
        "--quiet",
        "--no-index",
        "--no-cache-dir",
        "--no-compile",
        "--disable-pip-version-check",
      ];
      await runCommand(outside, ["-m", "pip", "--python", interpreter, "install", ...flags, wheel]);
      const printVersion = "import static_sdk; print(static_sdk.__version__)";
      assertEquals((await runCommand(interpreter, ["-c", printVersion])).trim(), version);
    },
  );
  await showResults(t, await runPythonTests({ interpreter, suites: alone, label: "alone" }));
  await using stack = await startStack();
  const runtimes = { Deno: Deno.execPath(), ...(node.met && { Node: await pathOf("node") }) };
  const runWith = async (label: string, runtime: string): Promise<PythonResult[]> => {
    // The examples of the documentation have channels of the same names, so each runtime has an
    // account of its own.
    const account = label === "Deno" ? stack.account : await stack.api.signUp();
    const env = { ...await environment(stack, account.apiKey), STATIC_RUNTIME: runtime };
    return (await Promise.all(
      withStack.map((suites) => runPythonTests({ interpreter, suites, label, env })),
    )).flat();
  };
  const service = {
    STATIC_RELAY_URL: `${stack.quicUrl},${stack.grpcUrl}`,
    STATIC_API_URL: stack.api.url,
    STATIC_API_KEY: stack.account.apiKey,
    STATIC_CA_FILE: stack.caFile,
    STATIC_RUNTIME: Deno.execPath(),
  };
  const runLiterally = async (label: string, runtime: string): Promise<PythonResult[]> => {
    const place = `${folder.path}/only ${label}`;
    await Deno.mkdir(place);
    await Deno.symlink(runtime, `${place}/${label.toLowerCase()}`);
    const env = {
      PATH: place,
      HOME: place,
      STATIC_TEST_SERVICE: JSON.stringify({
        endpoint: stack.quicUrl,
        apiUrl: stack.api.url,
        apiKey: stack.account.apiKey,
      }),
    };
    const suites = label === "Deno" || inCampaign ? ["test_endpoint"] : [ofSecondRuntime];
    return await runPythonTests({ interpreter, suites, label: `${label} alone on PATH`, env });
  };
  const pages = runPages(`${folder.path}/pages`, interpreter, service);
  // Side by side, because most of the time is waiting for processes to start; all suites of both
  // would be too many at once.
  const runs: Promise<PythonResult[]>[] = [];
  for (const [label, runtime] of Object.entries(runtimes)) {
    runs.push(runLiterally(label, runtime));
    if (label === "Deno" || inCampaign) runs.push(runWith(label, runtime));
    if (inCampaign) await Promise.all(runs);
  }
  await showResults(t, [...await Promise.all(runs), await pages].flat());
  const parts = { interpreter, folder: folder.path, stack, env: service };
  await useInTurn(t, parts);
  await suspendWhileSending(t, parts);
});

/** The `py` blocks of the pages, each as a program. */
async function runPages(
  folder: string,
  interpreter: string,
  env: Record<string, string>,
): Promise<PythonResult[]> {
  await Deno.mkdir(folder);
  const results: PythonResult[] = [];
  for (const page of ["README.md", "sdk/python/README.md"]) {
    const text = await Deno.readTextFile(new URL(`../../${page}`, import.meta.url));
    for (const { 1: code = "", index } of text.matchAll(/^```py\n([^]*?)^```$/gm)) {
      const name = `${page}:${text.slice(0, index).split("\n").length} py`;
      const run = (): Promise<string> =>
        runCommand(interpreter, ["-W", "error", "-c", code], { cwd: folder, env });
      results.push(
        await (runsOf(page) === 1 ? run() : run().then(run)).then(
          () => ({ name, outcome: "passed", text: "" }),
          (error: Error) => ({ name, outcome: "failed", text: error.message }),
        ),
      );
    }
  }
  // One of the pages shares an agent.
  for await (const { name } of Deno.readDir(`${folder}/agents`)) {
    await stopHost(`${folder}/agents/${name}`);
  }
  return results;
}

testWhen(
  installed("mypy"),
  "mypy --strict finds nothing in the Python package, its tests and its example",
  async () => {
    const paths = [
      "sdk/python/src/static_sdk",
      "sdk/python/tests",
      "bench/python/measure.py",
      "examples/observer.py",
    ];
    await runCommand("mypy", [
      "--strict",
      "--python-version=3.9",
      "--cache-dir=/dev/null",
      ...paths,
    ], {
      cwd: new URL("../../", import.meta.url).pathname,
      env: { MYPYPATH: "sdk/python/src:sdk/python/tests" },
    });
  },
);

if (inCampaign) {
  testWhen(python, "the same sources make the same wheel", async () => {
    await using folder = await temporaryFolder();
    const [one, other] = [
      await buildWheel(`${folder.path}/one`),
      await buildWheel(`${folder.path}/two`),
    ];
    assertEquals(await Deno.readFile(one), await Deno.readFile(other));
  });
}

/** Where the service is, and an account that has no message left. */
async function environment(
  { api, quicUrl, grpcUrl, caFile }: Stack,
  apiKey: string,
): Promise<Record<string, string>> {
  const spent = await api.signUp();
  const lease = {
    nonce: crypto.randomUUID(),
    relay_id: "another",
    account_id: spent.id,
    messages: 1_000_000,
  };
  assertEquals(
    (await api.call("POST", "/internal/v1/leases", { key: relaySecret, body: lease })).status,
    200,
  );
  const endpoint = `${quicUrl},${grpcUrl}`;
  return {
    STATIC_TEST_SERVICE: JSON.stringify({
      endpoint,
      apiUrl: api.url,
      apiKey,
      spentKey: spent.apiKey,
      caFile,
    }),
  };
}

async function pathOf(program: string): Promise<string> {
  return (await runCommand("sh", ["-c", `command -v ${program}`])).trim();
}

async function temporaryFolder(): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await Deno.makeTempDir({ prefix: "static-python-" });
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}
