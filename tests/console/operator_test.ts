// The operator's page in a real browser, on a real admin port: what it shows and does, and what
// other pages cannot do with it.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { testWhen } from "../support/mod.ts";
import {
  anyBackend,
  relaySecret,
  type SignedUp,
  startTestApi,
  type TestApi,
} from "../support/api/harness.ts";
import { chromium } from "../support/runtime/chromium.ts";
import { openBrowser, type Tab } from "../support/runtime/tab.ts";
import { judge, readAxe } from "./accessibility.ts";
import { attackFrom } from "./evil.ts";
import { assertClean, nothingStored, shows, storedBy, titled } from "./visitor.ts";

const secret = `operator-secret-${crypto.randomUUID()}`;
const hostileEmail = `"><svg/onload=hacked()>${crypto.randomUUID()}@example.com`;

testWhen(chromium, "an operator at the admin port's page", async (t) => {
  await using opened = new AsyncDisposableStack();
  const backend = await anyBackend.open();
  opened.defer(() => backend.close());
  const api = await startTestApi({ ...backend.environment, STATIC_ADMIN_SECRET: secret });
  opened.defer(() => api.close());
  const user = await api.signUp();
  await api.call("POST", "/v1/accounts", {
    body: { email: hostileEmail, password: "a long password" },
  });
  await api.call("POST", "/internal/v1/leases", {
    key: relaySecret,
    body: { nonce: crypto.randomUUID(), relay_id: "r", account_id: user.id, messages: 77 },
  });
  const browser = opened.use(await openBrowser());
  const tab = await browser.openTab();
  await tab.runFirst(`window.hacked = () => document.documentElement.dataset.hacked = "yes"`);

  await t.step(
    "is let in by the operator's own secret alone, and the public port has no such page",
    async () => {
      for (const path of ["/admin", "/admin/v1/view", "/console/assets/operator.js"]) {
        assertEquals((await api.call("GET", path)).status, 404, path);
      }
      await tab.open(`${api.adminUrl}/`);
      for (const wrong of [user.apiKey, relaySecret, "ünsinn"]) {
        await enter(tab, wrong);
        await tab.until(shows("That is not the operator's secret"));
      }
      await enter(tab, secret);
      await tab.until(`${titled("Accounts")} && document.activeElement?.id === "main"`);
    },
  );

  await t.step("an address without a page says so", async () => {
    const { status, headers } = await fetch(`${api.adminUrl}/admin/nowhere`, { method: "HEAD" });
    assertEquals([status, headers.get("content-type")], [404, "text/html; charset=utf-8"]);
    await tab.open(`${api.adminUrl}/admin/nowhere`);
    await enter(tab, secret);
    await tab.until(titled("Not found"));
    await tab.press("To the accounts");
    await enter(tab, secret);
    await tab.until(titled("Accounts"));
  });

  await t.step("finds accounts, whose addresses are text", async () => {
    await tab.until(shows(hostileEmail));
    await tab.fill("Part of the address", user.email.slice(5, 20).toUpperCase());
    await tab.press("Show");
    await tab.until(`${shows(user.email)} && !${shows(hostileEmail)}`);
    assertEquals(
      await tab.evaluate(`document.querySelector("tbody td:nth-child(4)").innerText`),
      "77",
    );
    assertEquals(
      await tab.evaluate(
        `[document.documentElement.dataset.hacked ?? "no", document.querySelector("svg[onload]")]`,
      ),
      [
        "no",
        null,
      ],
    );
  });

  await t.step(
    "suspends, resumes, sets plan and limit, each with its event in the audit",
    () => govern(tab, api, user),
  );

  await t.step("sees the health of database and relays", async () => {
    await tab.press("Health");
    await tab.until(`/Database\\s*answers \\(\\d+ ms\\)/.test(document.body.innerText)`);
  });

  await t.step("sees the audit and has its chain checked", async () => {
    await tab.press("Audit");
    await tab.until(shows("plan.limit_set"));
    assert(
      String(await tab.evaluate(`document.querySelector("tbody").innerText`)).includes(
        "admin:page",
      ),
    );
    await tab.press("Check the chain");
    await tab.until(shows("The audit is whole"));
  });

  await t.step(
    "every page is usable without seeing it, light or dark, from 360 pixels on",
    async () => {
      const axe = await readAxe();
      for (const [index, page] of ["Accounts", "Limits", "Health", "Audit"].entries()) {
        const isDark = index % 2 === 1;
        await tab.resize({ width: 360, height: 800, isDark });
        await tab.press(page);
        await tab.until(
          `${
            titled(page)
          } && document.querySelectorAll(".items > li, td, .cards section").length > 3`,
        );
        assertEquals(await judge(tab, axe), [], `${page}, ${isDark ? "dark" : "light"}`);
        const wide = await tab.evaluate(`document.documentElement.scrollWidth`);
        assert(Number(wide) <= 360, `${page} is ${wide} pixels wide`);
      }
    },
  );

  await t.step(
    "the secret is in the page's memory alone: neither a lock nor a reload keeps it",
    async () => {
      assertEquals(await storedBy(tab), nothingStored);
      await tab.press("Lock");
      await tab.until(titled("Static operator"));
      await enter(tab, secret);
      await tab.until(titled("Audit"));
      await tab.open(`${api.adminUrl}/admin/audit`);
      await tab.until(titled("Static operator"));
      assert(!tab.requests.some(({ url }) => url.includes(secret)));
      assert(!api.logs.some((line) => line.includes(secret)));
      assertEquals(tab.requests.flatMap(({ headers }) => headers["Referer"] || []), []);
      assertClean(tab);
    },
  );

  for (
    const [where, hostname] of [["another port", "127.0.0.1"], [
      "another site",
      "localhost",
    ]] as const
  ) {
    await t.step(
      `a page on ${where} neither frames it nor acts, even if it knew the secret`,
      async () => {
        const orders = ["run", "view"].map((
          path,
        ) => ["POST", `/admin/v1/${path}`, `{"args":["suspend","${user.id}"]}`]);
        const results = await attackFrom(tab, {
          hostname,
          target: api.adminUrl,
          page: "/admin",
          attempts: [["GET", "/admin"], ["GET", "/metrics"], ...orders],
          headers: { authorization: `Bearer ${secret}` },
        });
        assertEquals(results, Array(4).fill("refused"));
        assertEquals((await api.call("GET", "/v1/keys", { key: user.apiKey })).status, 200);
      },
    );
  }
});

async function enter(tab: Tab, text: string): Promise<void> {
  await tab.fill("Operator's secret", text);
  await tab.press("Open");
}

async function govern(tab: Tab, api: TestApi, user: SignedUp): Promise<void> {
  const status = async (): Promise<number> =>
    (await api.call("GET", "/v1/keys", { key: user.apiKey })).status;
  const limit = async (): Promise<number> =>
    (await api.call("GET", "/v1/usage", { key: user.apiKey })).json.messages.limit;
  await tab.press(user.email);
  await tab.press("Suspend …");
  await tab.press("Suspend");
  await tab.until(shows("is suspended. Relays end its sessions within 10 s."));
  assertEquals(await status(), 403);
  await tab.press("Resume");
  await tab.until(shows("is active again."));
  assertEquals(await status(), 200);
  await tab.fill("Messages a month", "123");
  await tab.press("Set the limit");
  await tab.until(shows("now has 123 messages a month"));
  assertEquals(await limit(), 123);
  // The form is emptied when it is done.
  await tab.until(`document.querySelector("form[data-busy]") === null`);
  await tab.fill("Messages a month", "many");
  await tab.press("Set the limit");
  await tab.until(shows("many is neither a number of messages nor"));
  await tab.until(shows("account.limit_set"));
  await tab.press("Limits");
  await tab.fill("Messages a month of dev", "600000");
  await tab.press("Set the limit of dev");
  await tab.until(shows("600,000 messages a month"));
  await tab.press("Accounts");
  await tab.press(user.email);
  await tab.until(shows("123 now"));
  assertMatch(String(await tab.evaluate(`document.body.innerText`)), /77 messages this month/);
}
