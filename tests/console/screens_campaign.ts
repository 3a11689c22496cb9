// Every page of the console in every size and scheme: nothing is wider than the screen, axe finds
// nothing serious, and pictures are kept in `dist/screens`. And the time to the first paint. A
// campaign, because it takes minutes.
import { assert, assertEquals, assertLess } from "@std/assert";
import { tried } from "../support/campaign.ts";
import { testWhen } from "../support/mod.ts";
import { chromium } from "../support/runtime/chromium.ts";
import { openBrowser, type Tab, type TabBrowser } from "../support/runtime/tab.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { judge, readAxe } from "./accessibility.ts";
import {
  choose,
  hears,
  makeLink,
  openChannel,
  ownAgent,
  say,
  untilConnected,
} from "./live_visitor.ts";
import { assertClean, newVisitor, shows, signUp, titled } from "./visitor.ts";

const folder = new URL("../../dist/screens/", import.meta.url);
const sizes = [[360, 800], [768, 1024], [1440, 900], [3840, 2160]] as const;
const room = "acme/ops/hello";
const firstPaintMs = 1_000;
const paints = 5;

/** A page as somebody sees it: how they get there in an open tab. */
interface Screen {
  readonly name: string;
  readonly tab: Tab;
  readonly go: () => Promise<void>;
}

/** Goes to a page by its name in the navigation. */
function page(tab: Tab, name: string, prefix = ""): Screen {
  const isThere = `${titled(name)} && !${shows("Loading …")}`;
  const go = async (): Promise<void> => {
    await tab.press(name);
    await tab.until(isThere);
  };
  return { name: `${prefix}${name.toLowerCase()}`, tab, go };
}

async function photograph({ name, tab }: Screen, width: number, scheme: string): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  await tab.screenshot(new URL(`${name}-${width}-${scheme}.png`, folder).pathname);
}

/** As tall as its content, so that a picture has all of it. */
async function fit(
  tab: Tab,
  { width, height, isDark }: { width: number; height: number; isDark: boolean },
): Promise<void> {
  // A tab behind others draws nothing.
  await tab.call("Page.bringToFront");
  await tab.resize({ width, height, isDark });
  const content = Number(await tab.evaluate(`document.documentElement.scrollHeight`));
  await tab.resize({ width, height: Math.max(height, Math.min(content, 4_000)), isDark });
  // Two frames: one is laid out by then, with what a change of size makes anew.
  await tab.evaluate(
    `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`,
  );
}

/**
 * Somebody in the console with a conversation, a guest, an operator, and strangers at both doors.
 */
async function openScreens(browser: TabBrowser, stack: Stack): Promise<readonly Screen[]> {
  const tab = await browser.openTab();
  await signUp(tab, stack.api, newVisitor());
  await tab.press("I have kept it");
  await tab.press("Live");
  await untilConnected(tab, "webtransport");
  await openChannel(tab, room);
  const guest = await (await browser.newPerson()).openTab();
  await guest.open(await makeLink(tab, room, "for a guest "));
  await guest.until(shows("You are invited"));
  const invited = await (await browser.newPerson()).openTab();
  await invited.open(await makeLink(tab, room, "for a guest "));
  await invited.press("Join the channel");
  await invited.fill(
    "Message",
    "hello from a guest, who has a longer sentence to say than fits into one line of a phone",
  );
  await invited.press("Send");
  await hears(
    tab,
    "hello from a guest, who has a longer sentence to say than fits into one line of a phone",
  );
  await say(tab, "hello");
  await choose(tab, "addressee", (await ownAgent(invited)).id);
  await tab.evaluate(
    `document.getElementById("message").value = "Can you review the migration by five?"`,
  );
  await tab.press("Send");
  await invited.until(`document.querySelector(".question input") !== null`);
  await invited.evaluate(
    `document.querySelector(".question input").value = "Yes, it is next on my list."`,
  );
  await invited.press("Answer");
  await tab.until(shows("Yes, it is next on my list."));
  await choose(tab, "addressee", "");
  const stranger = await (await browser.newPerson()).openTab();
  await stranger.open(`${stack.api.url}/console`);
  const newcomer = await (await browser.newPerson()).openTab();
  await signUp(newcomer, stack.api, newVisitor());
  const first = await (await browser.newPerson()).openTab();
  await signUp(first, stack.api, newVisitor());
  await first.press("Live");
  await untilConnected(first, "webtransport");
  const nowhere = await (await browser.newPerson()).openTab();
  await nowhere.open(`${stack.api.url}/console/nowhere`);
  const door = await (await browser.newPerson()).openTab();
  await door.open(`${stack.api.adminUrl}/admin`);
  const docs = await (await browser.newPerson()).openTab();
  await docs.open(`${stack.api.url}/docs`);
  const operator = await openOperator(browser, stack);
  const stay = async (): Promise<void> => {};
  const oneAccount = async (): Promise<void> => {
    await operator.press("Accounts");
    await operator.until(`document.querySelector("tbody button") !== null`);
    await operator.evaluate(`document.querySelector("tbody button").click()`);
    await operator.until(shows("Standing"));
  };
  return [
    { name: "entrance", tab: stranger, go: () => stranger.until(shows("Make an account")) },
    { name: "not-found", tab: nowhere, go: () => nowhere.until(titled("Not found")) },
    { name: "welcome", tab: newcomer, go: () => newcomer.until(shows("first API key")) },
    { name: "live-first", tab: first, go: () => first.until(shows("in no channel yet")) },
    ...["Home", "Keys", "Live"].map((name) => page(tab, name)),
    { name: "live-members", tab, go: () => tab.press("2 members") },
    page(tab, "Account"),
    { name: "guest", tab: guest, go: stay },
    { name: "guest-inside", tab: invited, go: stay },
    { name: "docs", tab: docs, go: () => docs.until(shows("/v1/tokens")) },
    { name: "operator-door", tab: door, go: () => door.until(shows("Operator's secret")) },
    ...["Limits", "Health", "Audit", "Accounts"].map((name) => page(operator, name, "operator-")),
    { name: "operator-account", tab: operator, go: oneAccount },
  ];
}

async function openOperator(browser: TabBrowser, stack: Stack): Promise<Tab> {
  const tab = await (await browser.newPerson()).openTab();
  const secret = await Deno.readTextFile(
    `${stack.backend.environment["STATIC_DATA_DIR"]}/admin_secret`,
  );
  await tab.open(`${stack.api.adminUrl}/admin`);
  await tab.fill("Operator's secret", secret.trim());
  await tab.press("Open");
  await tab.until(titled("Accounts"));
  return tab;
}

testWhen(chromium, "every page in every size, light and dark", async (t) => {
  await using opened = new AsyncDisposableStack();
  const stack = opened.use(await startStack());
  const browser = opened.use(await openBrowser("--ignore-certificate-errors"));

  await t.step(`the first paint comes within ${firstPaintMs} ms, without a cache`, async () => {
    const times: number[] = [];
    for (let i = 0; i < paints; i++) {
      const tab = await (await browser.newPerson()).openTab();
      await tab.open(`${stack.api.url}/console`);
      await tab.until(
        `${
          shows("Make an account")
        } && performance.getEntriesByName("first-contentful-paint").length > 0`,
      );
      times.push(
        Number(
          await tab.evaluate(`performance.getEntriesByName("first-contentful-paint")[0].startTime`),
        ),
      );
      await tab[Symbol.asyncDispose]();
    }
    console.log(`first contentful paint: ${times.map((ms) => `${Math.round(ms)} ms`).join(", ")}`);
    assertLess(times.toSorted((a, b) => a - b)[Math.floor(paints / 2)] ?? Infinity, firstPaintMs);
  });

  const screens = await openScreens(browser, stack);
  const axe = await readAxe();
  for (const [width, height] of sizes) {
    for (const isDark of [false, true]) {
      const scheme = isDark ? "dark" : "light";
      await t.step(`${width} pixels, ${scheme}`, async () => {
        for (const screen of screens) {
          await screen.go();
          await fit(screen.tab, { width, height, isDark });
          await photograph(screen, width, scheme);
          const wide = Number(await screen.tab.evaluate(`document.documentElement.scrollWidth`));
          assert(wide <= width, `${screen.name} is ${wide} pixels wide`);
          if (width === 360) assertEquals(await judge(screen.tab, axe), [], screen.name);
        }
      });
    }
  }
  for (const { tab } of screens) assertClean(tab);
  tried(`${screens.length} screens in ${sizes.length} sizes, light and dark`);
});
