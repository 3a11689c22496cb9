// The examples as a reader runs them: a planner in Deno, a worker in Node, an observer in Python
// and a person in a browser, in one channel.
import { assert, assertEquals, assertExists, assertMatch } from "@std/assert";
import { buildWheel } from "../../tools/build_python.ts";
import { createProject, type Project } from "../../tools/bundle.ts";
import { chromium, runInChromium } from "../support/runtime/chromium.ts";
import { node, runInNode } from "../support/runtime/node.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { installed, testWhen } from "../support/mod.ts";
import { photograph } from "../support/runtime/photograph.ts";
import { openTab } from "../support/runtime/tab.ts";
import { parsePage } from "../../tools/pages/markdown.ts";
import { environmentOf, run, temporaryFolder } from "./programs.ts";

const repository = new URL("../../", import.meta.url);
const needs = {
  met: node.met && chromium.met && installed("chromium").met,
  reason: `${node.reason}, or ${chromium.reason}`,
};

testWhen(
  needs,
  "planner, worker, observer and a person in a browser coordinate over one channel",
  async (t) => {
    await using stack = await startStack();
    await using folder = await temporaryFolder();
    await using tab = await openTab();
    const environment = environmentOf(stack);
    const planner = run(Deno.execPath(), ["run", "-A", "--no-check", "examples/planner.ts"], {
      ...environment,
      AGENT_DIR: `${folder.path}/planner`,
    });
    const invitation = (await planner.printed(/invitation: (inv_\S+)/))[1] ?? "";
    const served = run(
      Deno.execPath(),
      ["run", "-A", "--no-check", "examples/page/serve.ts", "0"],
      environment,
    );
    const address = (await served.printed(/Open (http:\S+)/))[1] ?? "";

    await t.step("the person joins and is heard", async () => {
      await tab.open(address);
      await tab.until(
        'document.getElementById("join") !== null && document.readyState === "complete"',
      );
      await tab.evaluate(submit("invitation", "join", invitation));
      await tab.until('!document.getElementById("say").hidden');
      await tab.evaluate(submit("text", "say", "please hurry"));
      await planner.printed(/"person"\) says: please hurry/);
    });
    const python = await installWheel(folder.path);
    const watching = python && run(python.command, ["examples/observer.py", invitation], {
      ...environment,
      ...python.environment,
      AGENT_DIR: `${folder.path}/observer`,
    });
    await watching?.printed(/watching/);
    await using project = await createProject();
    await t.step("the worker joins and takes all incidents", async () => {
      const bundle = await project.bundle(new URL("examples/worker.mjs", repository), "node");
      const worker = run("node", [bundle, invitation], {
        ...environment,
        AGENT_DIR: `${folder.path}/worker`,
      });
      assertEquals(await worker.ended(), 0, worker.output());
      assertEquals(await planner.ended(), 0, planner.output());
      assertEquals(worker.output().match(/working on/g)?.length, 3);
      assertMatch(
        planner.output(),
        watching ? /are decided; members: 4/ : /are decided; members: 3/,
      );
    });
    await t.step({
      name: `the observer has heard everybody${
        watching ? "" : " [skipped: Python 3.9 or newer is not installed]"
      }`,
      ignore: watching === undefined,
      fn: async () => {
        assertEquals(await watching?.ended(), 0, watching?.output());
        const heard = watching?.output() ?? "";
        for (const pattern of [/planner: asks about: disk/, /worker: /, /planner: sums up 3/]) {
          assertMatch(heard, pattern);
        }
      },
    });
    await t.step({
      name: `the worker's directory, written by Node, opens in Python${
        watching ? "" : " [skipped: no Python 3.9]"
      }`,
      ignore: python === undefined,
      fn: async () => {
        if (python === undefined) return;
        const code =
          "import static_sdk, sys; m = static_sdk.ChannelManager(None, sys.argv[1], b'worker'); " +
          "m.send(m.channels[0], b'from Python'); print(m.health(m.channels[0]).state); m.close()";
        const again = run(python.command, ["-c", code, `${folder.path}/worker`], {
          ...environment,
          ...python.environment,
        });
        assertEquals([await again.ended(), again.output()], [0, "ok\n"]);
      },
    });
    await t.step("the person has seen everything (screenshot)", async () => {
      await tab.until(
        'document.getElementById("said").innerText.includes("all 3 incidents are decided")',
      );
      const state = String(await tab.evaluate('document.getElementById("state").innerText'));
      assertMatch(
        state,
        /^planner, person,( observer,)? worker are in .+ over webtransport\. Safety number: (\d{5} ){7}\d{5}$/,
      );
      await photograph(tab, `${folder.path}/page.png`);
    });
    await t.step(
      "the README's ten lines run in Node and in a browser, as they do in Deno",
      async () => {
        const account = { apiUrl: stack.api.url, apiKey: stack.account.apiKey };
        const inNode = { ...account, endpoint: stack.grpcUrl, tls: { caFile: stack.caFile } };
        assertEquals(await runInNode(await tenLines(project, "node", inNode)), "hello, bob\n");
        // As the README says: the API tells a page where its relay is, and which certificate it
        // has.
        assertEquals(
          await runInChromium(await tenLines(project, "browser", account)),
          "hello, bob",
        );
      },
    );
    served.kill();
    await served.ended();
    await checkLogs(stack);
  },
);

/** The Python package, unpacked; undefined without a Python that is new enough. */
async function installWheel(
  folder: string,
): Promise<
  { readonly command: string; readonly environment: Readonly<Record<string, string>> } | undefined
> {
  const command = "python3";
  const isNewEnough = ["-c", "import sys; sys.exit(sys.version_info < (3, 9))"];
  if (!installed(command).met || await run(command, isNewEnough, {}).ended() !== 0) {
    return undefined;
  }
  const wheel = await buildWheel(`${folder}/wheel`);
  assertEquals(
    await run(command, ["-m", "zipfile", "-e", wheel, `${folder}/python`], {}).ended(),
    0,
  );
  return {
    command,
    environment: { PYTHONPATH: `${folder}/python`, STATIC_RUNTIME: Deno.execPath() },
  };
}

/**
 * The README's example as a bundle for another runtime, told where the service is; a page reports
 * what it prints.
 */
async function tenLines(
  project: Project,
  platform: "node" | "browser",
  service: unknown,
): Promise<string> {
  const [block] = parsePage("README.md", await Deno.readTextFile(new URL("README.md", repository)))
    .blocks
    .filter(({ language }) => language === "ts");
  assertExists(block);
  const report = 'console.log = (text) => void fetch("/results", { method: "POST", body: text });';
  const told = block.text.replace(
    "const service = {};",
    `const service = ${JSON.stringify(service)};`,
  )
    .replaceAll("acme/ops/hello", `acme/ops/hello-${platform}`)
    .replaceAll("agents/", `${platform === "node" ? project.folder : "ten"}/`);
  assert(told !== block.text && told.includes(JSON.stringify(service)));
  const entry = new URL(`file://${project.folder}/ten_lines.ts`);
  await Deno.writeTextFile(entry, platform === "node" ? told : told.replace("\n", `\n${report}\n`));
  return await project.bundle(entry, platform);
}

/** Fills a field of the page and sends its form. */
function submit(field: string, form: string, text: string): string {
  return `document.getElementById("${field}").value = ${JSON.stringify(text)};
    document.getElementById("${form}").requestSubmit()`;
}

/** The API's logs contain nothing of the messages. */
function checkLogs({ api }: Stack): void {
  assertEquals(
    api.logs.filter((line) => line.includes("please hurry") || line.includes("inv_")),
    [],
  );
}
