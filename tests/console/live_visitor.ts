/** Somebody on the page Live: what people do there, as steps that tests share. */
import type { Tab } from "../support/runtime/tab.ts";
import { shows } from "./visitor.ts";

export async function connect(tab: Tab, way: string, transport: string): Promise<void> {
  await tab.press("Live");
  await connectBy(tab, way, transport);
}

/** Settings of the connection are behind a button. */
export async function connectBy(tab: Tab, way: string, transport: string): Promise<void> {
  await tab.press("Connection");
  await choose(tab, "way", way);
  await untilConnected(tab, transport);
  await tab.press("Done");
}

/** Returns the name and the id of this tab's agent. */
export async function ownAgent(tab: Tab): Promise<{ readonly name: string; readonly id: string }> {
  await tab.press("Connection");
  await tab.until(`document.getElementById("own-id") !== null`);
  const [name, id] = [await textOf(tab, "own-name"), await textOf(tab, "own-id")];
  await tab.press("Done");
  return { name, id };
}

async function textOf(tab: Tab, id: string): Promise<string> {
  return String(await tab.evaluate(`document.getElementById(${JSON.stringify(id)}).innerText`));
}

/** A relay on a busy machine may turn somebody away; people do what the page says. */
export async function untilConnected(tab: Tab, transport: string): Promise<void> {
  const [isOn, isBusy] = [shows(`Connected over ${transport}.`), shows("The relay is busy")];
  await tab.until(`${isOn} || ${isBusy}`);
  while (await tab.evaluate(isBusy) === true) {
    await tab.press("Connect");
    await tab.until(`${isOn} || ${isBusy}`);
  }
}

/** The select with this id. */
export async function choose(tab: Tab, id: string, value: string): Promise<void> {
  await tab.until(`document.getElementById(${JSON.stringify(id)})?.disabled === false`);
  await tab.evaluate(`(() => {
    const select = document.getElementById(${JSON.stringify(id)});
    select.value = ${JSON.stringify(value)};
    select.dispatchEvent(new Event("change", { bubbles: true }));
  })()`);
}

export async function openChannel(tab: Tab, name: string): Promise<void> {
  await tab.fill("Name", name);
  await tab.press("Open or make it");
  await tab.until(`document.getElementById("chat-title")?.innerText === ${JSON.stringify(name)}`);
}

export async function say(tab: Tab, text: string): Promise<void> {
  await tab.fill("Message", text);
  await tab.press("Send");
}

/** Resolves when the page shows this text as said by somebody else. */
export async function hears(tab: Tab, text: string): Promise<void> {
  await tab.until(`[...document.querySelectorAll(".theirs .said-text")]
    .some((line) => line.innerText === ${JSON.stringify(text)})`);
}

/** Once shown, and gone from the page. `whose` is empty or "for a guest ". */
export async function makeLink(tab: Tab, name: string, whose = ""): Promise<string> {
  const [isMade, isBusy] = [
    `document.querySelector(".secret-text") !== null`,
    shows("Try again shortly"),
  ];
  // A database on a busy machine may be late; people do what the page says.
  for (let tries = 0; tries === 0 || (tries < 10 && await tab.evaluate(isBusy) === true); tries++) {
    await tab.press(`Make a link ${whose}to ${name}`);
    await tab.until(`${isMade} || ${isBusy}`);
  }
  await tab.until(isMade);
  const link = String(await tab.evaluate(`document.querySelector(".secret-text").innerText`));
  await tab.press("I have kept it");
  return link;
}
