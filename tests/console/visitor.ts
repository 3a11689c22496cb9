/** Somebody at the console: what people do there, as steps that tests share. */
import { assertEquals } from "@std/assert";
import "../support/built_console.ts";
import type { TestApi } from "../support/api/harness.ts";
import type { Tab } from "../support/runtime/tab.ts";

export interface Visitor {
  readonly email: string;
  readonly password: string;
}

/** An expression: the page shows this text. */
export function shows(text: string): string {
  return `document.body.innerText.includes(${JSON.stringify(text)})`;
}

/** An expression: this is the page's heading. */
export function titled(text: string): string {
  return `document.querySelector("h1")?.innerText === ${JSON.stringify(text)}`;
}

export function newVisitor(email = `user-${crypto.randomUUID()}@example.com`): Visitor {
  return { email, password: `password ${crypto.randomUUID()}` };
}

/**
 * The form to sign in has fields with the same labels: what is typed before the other form stands
 * is lost with it.
 */
export async function openSignUp(tab: Tab): Promise<void> {
  await tab.press("Make an account");
  await tab.until(shows("Make the account"));
}

/** Ends at Home; returns the key that was shown. */
export async function signUp(
  tab: Tab,
  api: Pick<TestApi, "url">,
  { email, password }: Visitor,
): Promise<string> {
  await tab.open(`${api.url}/`);
  await openSignUp(tab);
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

/**
 * Everything that a page can keep beyond its own life, as text. Cookies that scripts see included.
 */
export async function storedBy(tab: Tab): Promise<string> {
  return String(
    await tab.evaluate(`(async () => JSON.stringify([
      { ...localStorage }, { ...sessionStorage }, document.cookie, history.state, window.name,
      await caches.keys(), (await navigator.serviceWorker.getRegistrations()).length,
    ]))()`),
  );
}

/**
 * Texts that stand in the clear anywhere in the databases of the page's origin. Throws when there
 * is no database.
 */
export async function foundInDatabases(tab: Tab, texts: readonly string[]): Promise<unknown> {
  return await tab.evaluate(`(async () => {
    const done = (request) => new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
    const latin = new TextDecoder("latin1");
    const textOf = (value) => value instanceof ArrayBuffer || ArrayBuffer.isView(value)
      ? latin.decode(value)
      : Array.isArray(value) || (typeof value === "object" && value !== null && !(value instanceof CryptoKey))
      ? Object.values(value).map(textOf).join(" ")
      : String(value);
    const found = new Set();
    const databases = await indexedDB.databases();
    if (databases.length === 0) throw new Error("there is no database");
    for (const { name } of databases) {
      const database = await done(indexedDB.open(name));
      for (const table of database.objectStoreNames) {
        const store = database.transaction(table).objectStore(table);
        const all = textOf([await done(store.getAllKeys()), await done(store.getAll())]);
        for (const text of ${
    JSON.stringify(texts)
  }) if (all.includes(text) || name.includes(text)) found.add(text);
      }
      database.close();
    }
    return [...found];
  })()`);
}

/** Addresses that the back button of this tab knows. */
export async function visited(tab: Tab): Promise<readonly string[]> {
  const { entries } = await tab.call("Page.getNavigationHistory");
  // cast: the shape of the debugging protocol
  return (entries as { url: string }[]).map(({ url }) => url);
}

export const nothingStored = '[{},{},"",null,"",[],0]';

export function assertClean(tab: Tab): void {
  assertEquals([...tab.violations], []);
  assertEquals([...tab.faults], []);
}
