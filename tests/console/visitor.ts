/** Somebody at the console: what people do there, as steps that tests share. */
import { assertEquals } from "@std/assert";
import type { TestApi } from "../support/api/harness.ts";
import type { Tab } from "../support/runtime/tab.ts";

export interface Visitor {
  readonly email: string;
  readonly password: string;
}

export function newVisitor(email = `user-${crypto.randomUUID()}@example.com`): Visitor {
  return { email, password: `password ${crypto.randomUUID()}` };
}

/** Ends at Home; returns the key that was shown. */
export async function signUp(tab: Tab, api: Pick<TestApi, "url">, { email, password }: Visitor): Promise<string> {
  await tab.open(`${api.url}/`);
  await tab.press("Make an account");
  await tab.fill("E-mail", email);
  await tab.fill("Password", password);
  const isHome =
    `document.querySelector("h1")?.innerText === "Home" && document.querySelector(".secret-text") !== null`;
  const isBusy = `document.body.innerText.includes("Try again shortly")`;
  // A database on a busy machine may be late; people do what the page says.
  do {
    await tab.press("Make the account");
    await tab.until(`(${isHome}) || ${isBusy}`);
  } while (await tab.evaluate(isBusy) === true);
  return String(await tab.evaluate(`document.querySelector(".secret-text").innerText`));
}

export async function logIn(tab: Tab, { email, password }: Visitor): Promise<void> {
  await tab.fill("E-mail", email);
  await tab.fill("Password", password);
  await tab.press("Sign in");
}

/** Everything that a page can keep beyond its own life, as text. Cookies that scripts see included. */
export async function storedBy(tab: Tab): Promise<string> {
  return String(
    await tab.evaluate(`(async () => JSON.stringify([
      { ...localStorage }, { ...sessionStorage }, document.cookie, history.state, window.name,
      await caches.keys(), (await navigator.serviceWorker.getRegistrations()).length,
    ]))()`),
  );
}

export const nothingStored = '[{},{},"",null,"",[],0]';

export function assertClean(tab: Tab): void {
  assertEquals([...tab.violations], []);
  assertEquals([...tab.faults], []);
}
