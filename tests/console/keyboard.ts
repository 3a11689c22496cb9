/**
 * Somebody without a mouse: goes from one element to the next, sees each time where the focus is,
 * and gets everywhere.
 */
import { assert, assertEquals } from "@std/assert";
import type { TestApi } from "../support/api/harness.ts";
import type { Tab } from "../support/runtime/tab.ts";
import { newVisitor, shows, titled } from "./visitor.ts";

const keys = {
  Tab: { windowsVirtualKeyCode: 9 },
  Enter: { windowsVirtualKeyCode: 13, text: "\r" },
  Escape: { windowsVirtualKeyCode: 27 },
  ArrowRight: { windowsVirtualKeyCode: 39 },
} as const;
/** More than any page has. */
const maxStops = 100;

async function press(tab: Tab, key: keyof typeof keys): Promise<void> {
  const event = { key, code: key, ...keys[key] };
  await tab.call("Input.dispatchKeyEvent", {
    type: "text" in event ? "keyDown" : "rawKeyDown",
    ...event,
  });
  await tab.call("Input.dispatchKeyEvent", { type: "keyUp", ...event });
}

/** The focused element: its name as it is read out, and whether eyes can find it. */
interface Stop {
  readonly name: string;
  readonly isSeen: boolean;
}

async function stopOf(tab: Tab): Promise<Stop> {
  const text = await tab.evaluate(`(() => {
    const focused = document.activeElement;
    if (focused === null || focused === document.body) return JSON.stringify({ name: "", isSeen: true });
    const name = focused.ariaLabel ?? focused.labels?.[0]?.innerText ?? focused.innerText;
    const marked = focused.type === "radio" ? focused.nextElementSibling : focused;
    const { outlineStyle, outlineWidth } = getComputedStyle(marked);
    const { left, right, width } = marked.getBoundingClientRect();
    const isInside = width > 0 && right > 0 && left < innerWidth;
    return JSON.stringify({
      name: name.trim(),
      isSeen: isInside && (focused.id === "main" || (outlineStyle !== "none" && parseFloat(outlineWidth) >= 2)),
    });
  })()`);
  return JSON.parse(String(text));
}

/** Presses Tab until the element is reached whose name begins so. */
async function goTo(tab: Tab, name: string): Promise<void> {
  const passed: string[] = [];
  for (let i = 0; i < maxStops; i++) {
    await press(tab, "Tab");
    const stop = await stopOf(tab);
    assert(stop.isSeen, `the focus on "${stop.name}" is not to be seen`);
    if (stop.name.startsWith(name)) return;
    passed.push(stop.name);
  }
  throw new Error(`"${name}" is not reached by Tab, only: ${passed.join(" | ")}`);
}

async function write(tab: Tab, text: string): Promise<void> {
  await tab.call("Input.insertText", { text });
}

const isAtContent = `document.activeElement?.id === "main"`;

/** Signs up, looks around, and changes its mind about revoking a key. */
export async function walkByKeyboard(tab: Tab, api: Pick<TestApi, "url">): Promise<void> {
  await tab.call("Emulation.setFocusEmulationEnabled", { enabled: true });
  await tab.open(`${api.url}/console`);
  await tab.until(shows("Make an account"));
  await signUp(tab);
  await goTo(tab, "I have kept it");
  await press(tab, "Enter");
  await tab.until(isAtContent);
  await goTo(tab, "Deno");
  await press(tab, "ArrowRight");
  await tab.until(
    `document.activeElement?.labels?.[0]?.innerText === "Node" && document.activeElement.checked`,
  );
  await goTo(tab, "Keys");
  await press(tab, "Enter");
  await tab.until(`${titled("Keys")} && ${isAtContent}`);
  await changeItsMind(tab);
  // From the top of a page the first stop leads past the navigation.
  await tab.open(`${api.url}/console/account`);
  await tab.until(`${titled("Account")} && ${shows("this one")}`);
  await press(tab, "Tab");
  assertEquals(await stopOf(tab), { name: "To the content", isSeen: true });
  await press(tab, "Enter");
  await tab.until(isAtContent);
  // A button that worked has the focus again.
  await goTo(tab, "Send another code");
  await press(tab, "Enter");
  await tab.until(
    `${
      shows("A new code is on its way.")
    } && document.activeElement?.innerText === "Send another code"`,
  );
}

async function signUp(tab: Tab): Promise<void> {
  const { email, password } = newVisitor();
  await goTo(tab, "Make an account");
  await press(tab, "Enter");
  // The form that comes takes the focus.
  await tab.until(`document.activeElement?.name === "email" && ${shows("Make the account")}`);
  await write(tab, email);
  await goTo(tab, "Password");
  await write(tab, password);
  const [isHome, isBusy] = [
    `${titled("Home")} && ${shows("first API key")}`,
    shows("Try again shortly"),
  ];
  // A database on a busy machine may be late; people do what the page says.
  do {
    await press(tab, "Enter");
    await tab.until(`(${isHome}) || ${isBusy}`);
  } while (await tab.evaluate(isBusy) === true);
}

/** Once by Escape, once by the button: both times the focus is back where it was. */
async function changeItsMind(tab: Tab): Promise<void> {
  const isBack =
    `document.querySelector("dialog") === null && document.activeElement?.ariaLabel?.startsWith("Revoke default")`;
  await tab.until(shows("default"));
  await goTo(tab, "Revoke default");
  await press(tab, "Enter");
  await tab.until(
    `document.querySelector("dialog[open]")?.contains(document.activeElement) === true`,
  );
  await press(tab, "Escape");
  await tab.until(isBack);
  await press(tab, "Enter");
  await tab.until(
    `document.querySelector("dialog[open]")?.contains(document.activeElement) === true`,
  );
  await goTo(tab, "Keep it");
  await press(tab, "Enter");
  await tab.until(isBack);
}
