// The console under attack, in a real browser: markup where text belongs, frames, forged requests,
// and people who cannot see, or have no mouse.
import { assert, assertEquals } from "@std/assert";
import { inCampaign, tried } from "../support/campaign.ts";
import { testWhen } from "../support/mod.ts";
import { anyBackend, startTestApi } from "../support/api/harness.ts";
import { chromium } from "../support/runtime/chromium.ts";
import { openBrowser } from "../support/runtime/tab.ts";
import { judge, readAxe } from "./accessibility.ts";
import { attackFrom } from "./evil.ts";
import { walkByKeyboard } from "./keyboard.ts";
import { assertClean, newVisitor, shows, signUp } from "./visitor.ts";

const markup = `<img src=x onerror=hacked()>`;
const pages = ["Home", "Keys", "Live", "Account"];

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
  const isHacked = (): Promise<unknown> =>
    tab.evaluate(`document.documentElement.dataset.hacked ?? "no"`);

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
    assertEquals(await tab.evaluate(`document.querySelector("img, svg[onload]")`), null);
  });

  for (
    const [where, hostname] of [["another port", "127.0.0.1"], [
      "another site",
      "localhost",
    ]] as const
  ) {
    await t.step(
      `a page on ${where} neither frames the console nor acts with its session`,
      async () => {
        const login = '{"email":"a@b.example","password":"a long password"}';
        const results = await attackFrom(tab, {
          hostname,
          target: api.url,
          page: "/console",
          attempts: [
            ["GET", "/v1/account"],
            ["GET", "/v1/session"],
            ["POST", "/v1/keys", "{}"],
            ["DELETE", "/v1/session"],
            ["POST", "/v1/session", login],
          ],
        });
        assertEquals(results, Array(5).fill("refused"));
        // Still signed in, and with no key more than before.
        await tab.open(`${api.url}/console/keys`);
        await tab.until(`document.querySelectorAll(".items > li").length === 2`);
        // The session, and the known place.
        const { length } = (await api.call("POST", "/v1/session", { body: visitor })).headers
          .getSetCookie();
        assertEquals(length, 2);
      },
    );
  }

  await t.step(
    "everything is reached by keyboard, the focus is to be seen, and it is never lost",
    async () => {
      const person = await (await browser.newPerson()).openTab();
      await walkByKeyboard(person, api);
      assertClean(person);
      await person[Symbol.asyncDispose]();
    },
  );

  await t.step(
    "every page is usable without seeing it, light or dark, from 360 pixels on",
    async () => {
      const axe = await readAxe();
      await tab.open(`${api.url}/console`);
      for (const [index, page] of pages.entries()) {
        // Each page in one of them; a campaign has both. `contrast_test.ts` judges the colours of
        // both.
        for (const isDark of inCampaign ? [false, true] : [index % 2 === 1]) {
          await tab.resize({ width: 360, height: 800, isDark });
          await tab.press(page);
          await tab.until(
            `document.querySelector("h1")?.innerText === ${JSON.stringify(page)} && !${
              shows("Loading …")
            }`,
          );
          assertEquals(await judge(tab, axe), [], `${page}, ${isDark ? "dark" : "light"}`);
          const wide = await tab.evaluate(`document.documentElement.scrollWidth`);
          assert(Number(wide) <= 360, `${page} is ${wide} pixels wide`);
        }
      }
      tried(`${pages.length} pages of the console, light and dark`);
    },
  );

  assertClean(tab);
});
