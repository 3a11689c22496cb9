// The console in a real browser: what a person does there, with a real API.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { testWhen } from "../support/mod.ts";
import { anyBackend, startTestApi, type TestApi } from "../support/api/harness.ts";
import { chromium } from "../support/runtime/chromium.ts";
import { photograph } from "../support/runtime/photograph.ts";
import { openBrowser, type Tab } from "../support/runtime/tab.ts";
import {
  assertClean,
  logIn,
  newVisitor,
  nothingStored,
  openSignUp,
  shows,
  signUp,
  storedBy,
  titled,
} from "./visitor.ts";

/**
 * A script: of the answers that refuse, and of those about the session, all but the first wait for
 * the test.
 */
const holdBack = `(() => {
  const first = { refusals: true, sessions: true };
  Object.assign(globalThis, { usualFetch: fetch, refusals: [], sessions: [] });
  globalThis.fetch = async (path, init) => {
    const answer = await usualFetch(path, init);
    const kind = answer.status === 403 ? "refusals" : path === "/v1/session" && init.method === "GET" ? "sessions" : "";
    if (kind === "") return answer;
    if (first[kind] === false) await new Promise((resolve) => globalThis[kind].push(resolve));
    first[kind] = false;
    return answer;
  };
})()`;

const adminSecret = `operator-secret-${crypto.randomUUID()}`;
const isAtContent = `document.activeElement?.id === "main"`;

testWhen(chromium, "a person at the console", async (t) => {
  await using opened = new AsyncDisposableStack();
  const backend = await anyBackend.open();
  opened.defer(() => backend.close());
  const api = await startTestApi({ ...backend.environment, STATIC_ADMIN_SECRET: adminSecret });
  opened.defer(() => api.close());
  const browser = opened.use(await openBrowser());
  const tab = await browser.openTab();
  const visitor = newVisitor();
  const secrets: string[] = [visitor.password];

  await t.step("signs up, and sees the first key once", async () => {
    const key = await signUp(tab, api, visitor);
    secrets.push(key);
    assertMatch(key, /^sk_live_/);
    assertEquals((await api.call("POST", "/v1/tokens", { key })).status, 200);
    // It is the key of the lines below it: no other is offered. It does not follow its owner from
    // page to page.
    assertEquals(await tab.evaluate(shows("Make one now")), false);
    await tab.until(
      `document.querySelector("pre[aria-label^=Command]").innerText.includes(${
        JSON.stringify(key)
      })`,
    );
    await tab.press("Keys");
    await tab.until(titled("Keys"));
    assertEquals(await tab.evaluate(shows(key)), false);
    await tab.press("Home");
    await tab.until(shows(key));
    await tab.press("I have kept it");
    await tab.until(`!${shows(key)} && ${shows("Make one now")}`);
    await tab.open(`${api.url}/console`);
    await tab.until(titled("Home"));
    assertEquals(await tab.evaluate(shows(key)), false);
  });

  await t.step("sees the month and the last 30 days", async () => {
    await tab.until(shows("0 of 10,000 (0 %). Plan free"));
    await tab.until(`document.querySelector(".plot canvas") !== null`);
    await tab.evaluate(`document.querySelector("summary").click()`);
    assertEquals(await tab.evaluate(`document.querySelectorAll("tbody tr").length`), 30);
  });

  await t.step("a plan without a limit says so", async () => {
    const run = (...args: readonly string[]): Promise<Response> =>
      fetch(`${api.adminUrl}/admin/v1/run`, {
        method: "POST",
        headers: { authorization: `Bearer ${adminSecret}`, "content-type": "application/json" },
        body: JSON.stringify({ args }),
      });
    const { headers } = await api.call("POST", "/v1/session", { body: visitor });
    const cookie = headers.get("set-cookie")?.split(";")[0] ?? "";
    const { json } = await api.call("GET", "/v1/session", { headers: { cookie } });
    const plans = async (plan: string): Promise<void> =>
      void await (await run("set-plan", json.account_id, plan)).text();
    await plans("enterprise");
    await tab.open(`${api.url}/console`);
    await tab.until(shows("0 so far. The plan enterprise has no limit."));
    await plans("free");
  });

  await t.step(
    "gets lines with this installation's address and a key made on the spot",
    async () => {
      await tab.press("Make one now");
      await tab.until(`document.querySelector(".secret-text") !== null`);
      const key = String(await tab.evaluate(`document.querySelector(".secret-text").innerText`));
      secrets.push(key);
      assertEquals((await api.call("GET", "/v1/usage", { key })).status, 200);
      for (const runtime of ["Deno", "Node", "Browser", "Python", "MCP", "CLI"]) {
        await tab.press(runtime);
        await tab.until(`document.querySelector("pre").ariaLabel === "Lines for ${runtime}" &&
        document.querySelector(".card:has(pre)").innerText.includes(${JSON.stringify(api.url)})`);
        // A page in a browser would give it to all its visitors.
        await tab.until(
          `document.querySelector(".card:has(pre)").innerText.split(${
            JSON.stringify(key)
          }).length - 1 ===
        ${runtime === "Browser" ? 1 : 2}`,
        );
      }
    },
  );

  await t.step(
    "the API's documentation page sends a call with the reader's key, and keeps it nowhere",
    async () => {
      const reader = await (await browser.newPerson()).openTab();
      await sendFromDocumentation(reader, { api, key: secrets.at(-1) ?? "" });
      assertClean(reader);
      await reader[Symbol.asyncDispose]();
    },
  );

  await t.step("an account is made once, also when the sign-in after it fails", async () => {
    const person = await (await browser.newPerson()).openTab();
    const other = newVisitor();
    await person.open(`${api.url}/console`);
    await openSignUp(person);
    // One password has one error, at its field, and the focus is there.
    await person.fill("E-mail", other.email);
    await person.fill("Password", "short");
    await person.press("Make the account");
    await person.until(
      `document.querySelector("small.problem")?.innerText === "Password must have at least 8 characters"`,
    );
    assertEquals(
      await person.evaluate(`document.body.innerText.split("8 characters").length - 1`),
      1,
    );
    assertEquals(await person.evaluate(`document.querySelector(".fault")`), null);
    await person.until(`document.activeElement?.name === "password"`);
    await person.call("Network.setBlockedURLs", { urls: ["*/v1/session"] });
    await person.fill("E-mail", other.email);
    await person.fill("Password", other.password);
    await person.press("Make the account");
    await person.until(shows("The service does not answer"));
    await person.call("Network.setBlockedURLs", { urls: [] });
    await person.press("Make the account");
    await person.until(`${titled("Home")} && document.querySelector(".secret-text") !== null`);
    assertClean(person);
    await person[Symbol.asyncDispose]();
  });

  await t.step("makes a key with scopes, rotates it and revokes it: then it is 401", async () => {
    secrets.push(...await makeRotateRevoke(tab, api));
  });

  await t.step("sees sessions and what happened, and ends another session", async () => {
    const { headers } = await api.call("POST", "/v1/session", { body: visitor });
    const cookie = headers.get("set-cookie")?.split(";")[0] ?? "";
    await tab.press("Account");
    await tab.until(shows("this one"));
    await tab.until(shows("key.rotated"));
    await tab.press("End");
    await tab.until(shows("The session has ended."));
    assertEquals((await api.call("GET", "/v1/session", { headers: { cookie } })).status, 401);
  });

  await t.step("a wrong password is told, and ends nothing", async () => {
    await tab.fill("Present password", "not the password");
    await tab.fill("New password", "another long password");
    await tab.press("Change the password");
    await tab.until(shows("Wrong password"));
    assertEquals(await tab.evaluate(`document.querySelector("dialog[open]")`), null);
  });

  await t.step(
    "a session that ends takes nothing away: the page waits for the password",
    async () => {
      await tab.press("Keys");
      await tab.fill("Name", "typed before the end");
      api.clock.aheadMs += 3_601_000;
      await tab.press("Make the key");
      await tab.until(
        `document.querySelector("dialog[open] h2")?.innerText === "Your session has ended"`,
      );
      await logIn(tab, visitor);
      await tab.until(`document.querySelector("dialog[open]") === null`);
      assertEquals(
        await tab.evaluate(`document.querySelector("[name=name]").value`),
        "typed before the end",
      );
      await tab.press("Make the key");
      await tab.until(shows('This is the key "typed before the end"'));
      secrets.push(String(await tab.evaluate(`document.querySelector(".secret-text").innerText`)));
    },
  );

  await t.step(
    "a tab never shows the account of somebody who signed in in another tab",
    async () => {
      const other = newVisitor();
      await api.call("POST", "/v1/accounts", { body: other });
      const second = await browser.openTab();
      await second.open(`${api.url}/console/account`);
      await second.until(shows(visitor.email));
      await second.press("Sign out");
      await logIn(second, other);
      await second.until(shows(other.email));
      // The first tab learns of it with its next question, and begins anew. Its other questions are
      // refused too, but later.
      await tab.evaluate(holdBack);
      await tab.press("Account");
      await tab.until(shows(other.email));
      assertEquals(await tab.evaluate(shows(visitor.email)), false);
      assertEquals(await tab.evaluate(shows("typed before the end")), false);
      await tab.evaluate("refusals.splice(0).forEach((go) => go())");
      await tab.until("sessions.length > 0");
      await tab.press("Sign out");
      await tab.until(shows("Make an account"));
      await tab.evaluate(
        "sessions.splice(0).forEach((go) => go()), globalThis.fetch = usualFetch, 0",
      );
      await logIn(tab, visitor);
      await tab.until(shows(visitor.email));
      assertClean(second);
      await second[Symbol.asyncDispose]();
    },
  );

  await t.step("a logout that the service does not hear does not look like one", async () => {
    await tab.call("Network.setBlockedURLs", { urls: ["*/v1/session"] });
    await tab.press("Sign out");
    await tab.until(shows("The service does not answer"));
    assertEquals(await tab.evaluate(titled("Account")), true);
    await tab.call("Network.setBlockedURLs", { urls: [] });
    await tab.press("Sign out");
    await tab.until(`${shows("Make an account")} && ${isAtContent}`);
    await tab.open(`${api.url}/console/keys`);
    await tab.until(shows("Make an account"));
  });

  await t.step(
    "after a sign-in the focus is at the content, and an address without a page says so",
    async () => {
      await tab.open(`${api.url}/console/nowhere`);
      await tab.until(titled("Not found"));
      await tab.press("To the console");
      await tab.until(shows("Make an account"));
      await logIn(tab, visitor);
      await tab.until(`${titled("Home")} && ${isAtContent}`);
      await tab.open(`${api.url}/console/nowhere`);
      await tab.until(`${titled("Not found")} && ${shows("Sign out")}`);
      await tab.press("Home");
      await tab.press("Sign out");
      await tab.until(shows("Make an account"));
    },
  );

  await t.step("the account's end asks for the password, and is an end", async () => {
    await logIn(tab, visitor);
    await tab.press("Account");
    await tab.press("Delete the account …");
    await tab.fill("Your password", "not the password");
    await tab.press("Delete it for ever");
    await tab.until(shows("Wrong password"));
    await tab.fill("Your password", visitor.password);
    await tab.press("Delete it for ever");
    await tab.until(shows("Make an account"));
    assertEquals((await api.call("POST", "/v1/session", { body: visitor })).status, 401);
  });

  await t.step(
    "nothing was stored, nothing broke the policy, and no secret left the page",
    async () => {
      assertEquals(await storedBy(tab), nothingStored);
      assertClean(tab);
      for (const secret of secrets) {
        assert(!api.logs.some((line) => line.includes(secret)));
        assert(
          !tab.requests.some(({ url }) =>
            url.includes(encodeURIComponent(secret)) || url.includes(secret)
          ),
        );
      }
      const referrers = tab.requests.flatMap(({ headers }) => headers["Referer"] || []);
      assertEquals(referrers, []);
    },
  );
});

async function sendFromDocumentation(
  tab: Tab,
  { api, key }: { readonly api: TestApi; readonly key: string },
): Promise<void> {
  await tab.open(`${api.url}/docs`);
  // The form is the script's once the page is complete.
  await tab.until(`document.readyState === "complete" && ${shows("/v1/tokens")}`);
  const section = `document.querySelector("#get-v1-keys")`;
  await tab.evaluate(
    `document.getElementById("key").value = ${
      JSON.stringify(key)
    }; ${section}.querySelector("form").requestSubmit()`,
  );
  await tab.until(`${section}.querySelector("output").textContent.startsWith("200 ")`);
  await tab.evaluate(`${section}.querySelector("[data-language=Python]").click()`);
  await tab.until(`!document.getElementById("get-v1-keys-python").hidden`);
  // Style and script are files that the page's policy allows.
  await tab.until(`getComputedStyle(document.body).display === "grid"`);
  assertEquals(await storedBy(tab), nothingStored);
  assertEquals(await tab.evaluate("location.search"), "");
  const folder = await Deno.makeTempDir();
  await photograph(tab, `${folder}/docs.png`);
  await Deno.remove(folder, { recursive: true });
}

/** Returns the keys that were shown. */
async function makeRotateRevoke(tab: Tab, api: TestApi): Promise<string[]> {
  const shown = async (): Promise<string> =>
    String(await tab.evaluate(`document.querySelector(".secret-text").innerText`));
  await tab.press("Keys");
  await tab.until(titled("Keys"));
  await tab.fill("Name", "narrow");
  await tab.evaluate(`(() => {
    const kind = document.querySelector("[name=kind]");
    kind.value = "scoped";
    kind.dispatchEvent(new Event("change", { bubbles: true }));
  })()`);
  await tab.press("Make the key");
  await tab.until(shows('This is the key "narrow"'));
  const first = await shown();
  assertEquals((await api.call("GET", "/v1/keys", { key: first })).status, 403);
  assertEquals((await api.call("POST", "/v1/tokens", { key: first })).status, 200);
  const prefix = first.slice(0, "sk_live_".length + 8);
  await tab.press(`Rotate narrow ${prefix}`);
  await tab.until(`document.querySelector(".secret-text")?.innerText !== ${JSON.stringify(first)}`);
  await tab.until(shows("The old key works for one more day"));
  const second = await shown();
  assertEquals((await api.call("POST", "/v1/tokens", { key: second })).status, 200);
  await tab.press(`Revoke narrow ${prefix}`);
  await tab.press("Revoke it");
  await tab.until(shows("narrow is revoked"));
  assertEquals((await api.call("POST", "/v1/tokens", { key: first })).status, 401);
  await tab.press("I have kept it");
  return [first, second];
}

testWhen(
  chromium,
  "a browser in which somebody signed in is a known place: strangers who guess do not keep it out",
  async () => {
    await using opened = new AsyncDisposableStack();
    const backend = await anyBackend.open();
    opened.defer(() => backend.close());
    const api = await startTestApi({
      ...backend.environment,
      STATIC_TRUSTED_PROXIES: "127.0.0.1",
      STATIC_RATE_PASSWORDS: "4/86400",
    });
    opened.defer(() => api.close());
    const browser = opened.use(await openBrowser());
    const tab = await browser.openTab();
    const visitor = newVisitor();
    const from = (host: number): Record<string, string> => ({
      "x-forwarded-for": `198.51.100.${host}`,
    });
    const isStrangerLetIn = async (): Promise<boolean> =>
      (await api.call("POST", "/v1/session", { body: visitor, headers: from(99) })).status === 200;

    await signUp(tab, api, visitor);
    await tab.press("I have kept it");
    assert(await isStrangerLetIn());
    for (let host = 1; host <= 10; host++) {
      await api.call("POST", "/v1/session", {
        body: { ...visitor, password: "not the password" },
        headers: from(host),
      });
    }
    assert(!await isStrangerLetIn());
    await tab.press("Sign out");
    await logIn(tab, visitor);
    await tab.until(titled("Home"));
    assertEquals(await tab.evaluate("document.cookie"), "");

    // With another password it is one again.
    await tab.press("Account");
    const changed = "another long password";
    await tab.fill("Present password", visitor.password);
    await tab.fill("New password", changed);
    await tab.press("Change the password");
    await tab.until(
      `document.querySelector("dialog[open] h2")?.innerText === "Your session has ended"`,
    );
    await tab.open(`${api.url}/console`);
    await logIn(tab, { ...visitor, password: changed });
    await tab.until(titled("Home"));
    assertClean(tab);
  },
);
