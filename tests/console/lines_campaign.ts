// The lines of "Connect your first agent" as they stand, against a real API and a real relay, with
// nothing but what the page shows. A campaign, because it starts programs in several languages.
import { assertEquals, assertStringIncludes } from "@std/assert";
import { buildWheel } from "../../tools/build_python.ts";
import { tried } from "../support/campaign.ts";
import { runCommand, testWhen } from "../support/mod.ts";
import { python } from "../support/python.ts";
import { chromium } from "../support/runtime/chromium.ts";
import { openBrowser, type Tab } from "../support/runtime/tab.ts";
import { startStack } from "../support/stack.ts";
import { newVisitor, shows, signUp } from "./visitor.ts";

const repository = new URL("../../", import.meta.url).pathname;

/** The blocks for one runtime: a file or commands, and perhaps a command for the file. */
async function linesFor(tab: Tab, runtime: string): Promise<readonly string[]> {
  await tab.press(runtime);
  await tab.until(`document.querySelector("pre").ariaLabel === "Lines for ${runtime}"`);
  const blocks = await tab.evaluate(
    `JSON.stringify([...document.querySelectorAll("pre")].map(({ innerText }) => innerText))`,
  );
  return JSON.parse(String(blocks));
}

testWhen(chromium, "the lines on Home connect an agent as they stand", async (t) => {
  await using opened = new AsyncDisposableStack();
  const stack = opened.use(await startStack());
  const browser = opened.use(await openBrowser());
  const tab = await browser.openTab();
  await signUp(tab, stack.api, newVisitor());
  await tab.press("I have kept it");
  await tab.press("Make one now");
  await tab.until(shows("This is the agent's API key"));
  const folder = await Deno.makeTempDir({ prefix: "static-lines-" });
  opened.defer(() => Deno.remove(folder, { recursive: true }));
  /** Settings and agents of the user who runs the tests are not those of a new user. */
  const run = (commands: string, env: Record<string, string> = {}): Promise<string> =>
    runCommand("sh", ["-e", "-c", commands], {
      cwd: folder,
      env: { XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder, STATIC_HOST: "off", ...env },
    });

  await t.step("Deno", async () => {
    const [file = "", command = ""] = await linesFor(tab, "Deno");
    await Deno.writeTextFile(`${folder}/first.ts`, file);
    assertStringIncludes(command, "deno run -A");
    // A file outside of the repository has to be told where the SDK is.
    const here = `${Deno.execPath()} run --config ${repository}deno.json -A`;
    assertEquals(await run(command.replace("deno run -A", here)), "");
  });

  await t.step("CLI", async () => {
    const [commands = ""] = await linesFor(tab, "CLI");
    const output = await run(commands.replaceAll("./static", `${repository}static`));
    assertStringIncludes(output, "acme/ops/cli");
  });

  if (python.met) {
    await t.step("Python", async () => {
      const wheel = await buildWheel(`${folder}/wheel`);
      await runCommand("python3", ["-m", "zipfile", "-e", wheel, `${folder}/package`]);
      const [commands = ""] = await linesFor(tab, "Python");
      const env = { PYTHONPATH: `${folder}/package`, STATIC_RUNTIME: Deno.execPath() };
      assertEquals(await run(commands, env), "");
    });
  }
  tried("3 languages' lines of Home");
});
