// The console under attack, in a real browser: markup where text belongs, frames, forged requests, and people who cannot see.
import { assert, assertEquals } from "@std/assert";
import { createProject } from "../../tools/bundle.ts";
import { testWhen } from "../support/mod.ts";
import { anyBackend, startTestApi } from "../support/api/harness.ts";
import { chromium } from "../support/runtime/chromium.ts";
import { openBrowser, type Tab } from "../support/runtime/tab.ts";
import { assertClean, newVisitor, signUp } from "./visitor.ts";

const shows = (text: string): string => `document.body.innerText.includes(${JSON.stringify(text)})`;
const markup = `<img src=x onerror=hacked()>`;
const pages = ["Home", "Keys", "Channels", "Live", "Account"];

/** A page of another origin, which tries what `script` says. */
function serveEvil(hostname: string, script: string): Deno.HttpServer<Deno.NetAddr> {
  const page = `<!doctype html><title>evil</title><script type="module">${script}</script>`;
  return Deno.serve(
    { hostname, port: 0, onListen: () => {} },
    () => new Response(page, { headers: { "content-type": "text/html" } }),
  );
}

testWhen(chromium, "the console under attack", async (t) => {
  await using opened = new AsyncDisposableStack();
  const backend = await anyBackend.open();
  opened.defer(() => backend.close());
  const api = await startTestApi(backend.environment);
  opened.defer(() => api.close());
  const browser = opened.use(await openBrowser());
  const tab = await browser.openTab();
  // An address may hold what a page must not take for markup.
  const visitor = newVisitor(`"><svg/onload=hacked()>${crypto.randomUUID()}@example.com`);
  await tab.runFirst(`window.hacked = () => document.documentElement.dataset.hacked = "yes"`);
  const isHacked = (): Promise<unknown> => tab.evaluate(`document.documentElement.dataset.hacked ?? "no"`);

  await t.step("e-mail addresses and names of keys are text", async () => {
    await signUp(tab, api, visitor);
    await tab.press("I have kept it");
    await tab.press("Keys");
    await tab.fill("Name", markup);
    await tab.press("Make the key");
    await tab.until(shows(`This is the key "${markup}"`));
    await tab.press("Account");
    await tab.until(shows(visitor.email));
    assertEquals(await isHacked(), "no");
    assertEquals(await tab.evaluate(`document.querySelector("img, svg")`), null);
  });

  for (const [where, hostname] of [["another port", "127.0.0.1"], ["another site", "localhost"]] as const) {
    await t.step(`a page on ${where} neither frames the console nor acts with its session`, async () => {
      await attackFrom(tab, hostname, api.url);
      const { length } = (await api.call("POST", "/v1/session", { body: visitor })).headers.getSetCookie();
      assertEquals(length, 1);
    });
  }

  await t.step("every page is usable without seeing it, light and dark, from 360 pixels on", async () => {
    await using project = await createProject(["axe-core"]);
    const axe = await Deno.readTextFile(`${project.folder}/node_modules/axe-core/axe.min.js`);
    await tab.open(`${api.url}/console`);
    for (const isDark of [false, true]) {
      await tab.resize({ width: 360, height: 800, isDark });
      for (const page of pages) {
        await tab.press(page);
        await tab.until(
          `document.querySelector("h1")?.innerText === ${JSON.stringify(page)} && !${shows("Loading …")}`,
        );
        assertEquals(await judge(tab, axe), [], `${page}, ${isDark ? "dark" : "light"}`);
        const wide = await tab.evaluate(`document.documentElement.scrollWidth`);
        assert(Number(wide) <= 360, `${page} is ${wide} pixels wide`);
      }
    }
  });

  assertClean(tab);
});

/** Everything must fail; what the page saw comes back. */
async function attackFrom(tab: Tab, hostname: string, apiUrl: string): Promise<void> {
  const target = JSON.stringify(apiUrl);
  await using evil = serveEvil(
    hostname,
    `
    const frame = document.createElement("iframe");
    frame.src = ${target} + "/console";
    const loaded = new Promise((resolve) => frame.onload = resolve);
    document.body.append(frame);
    await loaded;
    const attempts = [
      ["GET", "/v1/account"], ["GET", "/v1/session"], ["POST", "/v1/keys", "{}"], ["DELETE", "/v1/session"],
      ["POST", "/v1/session", '{"email":"a@b.example","password":"a long password"}'],
    ];
    window.results = await Promise.all(attempts.map(async ([method, path, body]) => {
      const headers = body === undefined ? {} : { "content-type": "application/json" };
      for (const mode of ["cors", "no-cors"]) {
        try {
          const init = { method, mode, credentials: "include", ...(body && { body }) };
          const response = await fetch(${target} + path, { ...init, ...(mode === "cors" && { headers }) });
          if (response.type !== "opaque" && response.ok) return "done";
        } catch {}
      }
      return "refused";
    }));
    const form = Object.assign(document.createElement("form"), { method: "post", action: ${target} + "/v1/keys", target: "f" });
    document.body.append(Object.assign(document.createElement("iframe"), { name: "f" }), form);
    form.submit();
    window.finished = true;
    `,
  );
  await tab.open(`http://${hostname}:${evil.addr.port}/`);
  await tab.until(`window.finished === true`);
  assertEquals(await tab.evaluate(`window.results`), Array(5).fill("refused"));
  // A frame that was refused shows the browser's own page, whose document is nobody's.
  assertEquals(await tab.evaluate(`document.querySelector("iframe").contentDocument`), null);
  await tab.open(`${apiUrl}/console/keys`);
  await tab.until(`document.querySelectorAll(".items > li").length === 2`);
  assertEquals(tab.violations.some((issue) => !issue.includes("frame-ancestors")), false);
  (tab.violations as string[]).length = 0;
}

/** Faults that are serious or worse. */
async function judge(tab: Tab, axe: string): Promise<unknown> {
  await tab.evaluate(`${axe}; undefined`);
  return await tab.evaluate(`axe.run().then(({ violations }) => violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html.slice(0, 120)).join(" | ")))`);
}
