// Live in a real browser, with a real API and a real relay: tabs are agents, and talk with each
// other and with programs.
import { assert, assertEquals, assertGreater, assertMatch } from "@std/assert";
import { RemoteError, StaticClient } from "static-sdk";
import { parseJoinLink, quoted } from "../../proto/mod.ts";
import { inCampaign } from "../support/campaign.ts";
import { eventually, testWhen } from "../support/mod.ts";
import { python } from "../support/python.ts";
import { chromium } from "../support/runtime/chromium.ts";
import { openBrowser, type Tab } from "../support/runtime/tab.ts";
import { type Stack, startStack } from "../support/stack.ts";
import {
  choose,
  connect,
  connectBy,
  hears,
  makeLink,
  openChannel,
  ownAgent,
  say,
  untilConnected,
} from "./live_visitor.ts";
import { startPythonAgent } from "./python_agent.ts";
import {
  assertClean,
  foundInDatabases,
  logIn,
  newVisitor,
  nothingStored,
  shows,
  signUp,
  storedBy,
  visited,
} from "./visitor.ts";

const room = "acme/ops/live";
/** An agent in Python takes ten seconds to build and start. */
const hasPython = inCampaign && python.met;
const markup = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>`;
/** More of a message than the page shows. */
const tooLong = 30_000;

/** A program with an unpleasant name, that answers requests. */
async function startProgram(stack: Stack, link: string): Promise<StaticClient> {
  const client = await StaticClient.connect({
    // On a busy machine UDP may not be answered in time.
    endpoint: `${stack.quicUrl},${stack.grpcUrl}`,
    apiUrl: stack.api.url,
    apiKey: stack.account.apiKey,
    tls: { caFile: stack.caFile },
    dataDir: `${stack.relayDir}/program`,
    identity: markup,
  });
  const channel = await client.join(link);
  channel.serve((request) => {
    if (request.text() === "fail") throw new RemoteError(markup, { remoteCode: "no" });
    return `${request.text().length} letters`;
  });
  await channel.send(markup);
  await channel.send("\0".repeat(tooLong));
  return client;
}

/**
 * Cells of a tab that uses the fallback: as the browser has sent them, and as the meter shows them.
 */
async function countCells(tab: Tab): Promise<{ sent: number; shown: number; lost: number }> {
  const isCell = ({ url, method }: Tab["requests"][number]): boolean =>
    url.endsWith("/CellUp") && method === "POST";
  const read = `(() => {
    const row = document.querySelector('[data-direction="sent"]');
    const [real, cover] = [row.querySelector("[data-real]").dataset.real, row.querySelector("[data-cover]").dataset.cover];
    return { shown: Number(real) + Number(cover), lost: document.body.innerText.split("Disconnected").length - 1 };
  })()`;
  // cast: as written above
  const { shown, lost } = await tab.evaluate(read) as { shown: number; lost: number };
  return { sent: tab.requests.filter(isCell).length, shown, lost };
}

/** Workers come from files of the API: the policy allows no other address. */
function assertOnlyWorkers({ workers }: Tab, { api }: Stack): void {
  assertGreater(workers.length, 0);
  for (const { url } of workers) assertEquals(url, `${api.url}/console/assets/worker.js`);
}

testWhen(chromium, "two tabs and a program in one channel", async (t) => {
  await using opened = new AsyncDisposableStack();
  const stack = opened.use(await startStack());
  const browser = opened.use(
    await openBrowser("--ignore-certificate-errors", "--window-size=1440,900"),
  );
  const [one, two] = [await browser.openTab(), await browser.openTab()];
  const visitor = newVisitor();
  const secrets: string[] = [visitor.password];
  let firstKey = "";

  await t.step(
    "each tab is an agent of its own, over WebTransport and over the fallback",
    async () => {
      firstKey = await signUp(one, stack.api, visitor);
      secrets.push(firstKey);
      await one.press("I have kept it");
      await connect(one, "webtransport", "webtransport");
      await two.open(`${stack.api.url}/console/live`);
      await connect(two, "cells", "cells");
      const agents = [await ownAgent(one), await ownAgent(two)];
      assertEquals(agents.map(({ name }) => name.slice(0, 9)), ["console-1", "console-2"]);
    },
  );

  await t.step("one makes a channel and a link, the other joins by it, and they talk", async () => {
    await openChannel(one, room);
    await one.until(`document.activeElement?.id === "message"`);
    const link = await makeLink(one, room);
    secrets.push(link, link.split("#")[1] ?? "");
    await two.open(link);
    await connectBy(two, "cells", "cells");
    await two.press("Join the channel");
    await two.until(`document.getElementById("chat-title")?.innerText === ${JSON.stringify(room)}`);
    // Typed while the one before is on its way.
    for (const text of ["first", "second", "third"]) await say(one, text);
    await two.until(`["first", "second", "third"].every((text) =>
      [...document.querySelectorAll(".theirs .said-text")].some((line) => line.innerText === text))`);
    await say(two, "heard");
    await hears(one, "heard");
    assertEquals(await one.evaluate(`document.querySelectorAll(".mine").length`), 3);
  });

  const guest = await (await browser.newPerson()).openTab();
  await t.step(
    "somebody without an account joins by a link with a pass, and is heard",
    async () => {
      const link = await makeLink(one, room, "for a guest ");
      secrets.push(link, link.split("#")[1] ?? "", parseJoinLink(link).pass ?? link);
      const startMs = performance.now();
      await guest.open(link);
      await guest.press("Join the channel");
      await guest.fill("Message", "here I am");
      await guest.press("Send");
      await hears(one, "here I am");
      console.log(
        `from link to first message in a browser: ${Math.round(performance.now() - startMs)} ms`,
      );
      await say(two, "welcome");
      await guest.until(shows("welcome"));
      // A guest opens no channels and lets nobody in.
      assertEquals(
        await guest.evaluate(`${shows("Make a link")} || ${shows("Open or make it")}`),
        false,
      );
    },
  );

  await t.step(
    "on a phone a guest sees the conversation and nothing else, until asking for more",
    async () => {
      const seen = (part: string): string =>
        `document.querySelector("${part}")?.checkVisibility() === true`;
      await guest.resize({ width: 360, height: 800 });
      await guest.until(
        `${seen(".live-talk")} && !(${seen(".live-details")}) && !(${seen(".live-channels")})`,
      );
      // The newest message and the field for an answer are on the screen.
      assertEquals(
        await guest.evaluate(`[".theirs:last-of-type", "#message"].every((part) =>
        document.querySelector(part).getBoundingClientRect().bottom <= 800)`),
        true,
      );
      await guest.press("3 members");
      await guest.until(
        `${seen(".live-details")} && !(${seen(".live-talk")}) && ${shows("Privacy meter")}`,
      );
      // The button that led there is hidden: the focus has gone along.
      await guest.until(`document.activeElement?.className === "live-details"`);
      await guest.press("Back");
      await guest.until(
        `${seen(".live-talk")} && document.activeElement?.className === "live-talk"`,
      );
    },
  );

  await t.step(
    "a link without a pass asks for an account, and one that was changed is told",
    async () => {
      const stranger = await (await browser.newPerson()).openTab();
      const link = await makeLink(one, room);
      await stranger.open(link);
      await stranger.until(`${shows(`You are invited to ${room}`)} && ${shows("Make an account")}`);
      await stranger.open(`${link.slice(0, -1)}`);
      await stranger.until(shows("of its"));
      assertEquals(await stranger.evaluate(`location.href`), `${stack.api.url}/console/join`);
      assertClean(stranger);
      await stranger[Symbol.asyncDispose]();
    },
  );

  await t.step("both see the same number to compare", async () => {
    const number = `document.querySelector(".fingerprint").textContent`;
    await two.until(`${number} === ${JSON.stringify(await one.evaluate(number))}`);
    assertMatch(String(await one.evaluate(number)), /\d/);
  });

  const program = await startProgram(stack, await makeLink(one, room));
  opened.defer(() => program.close());

  await t.step("a program answers requests, and its name and words are text", async () => {
    await one.until(
      `[...document.querySelectorAll(".theirs .said-text")].some((line) => line.innerText.includes("onerror"))`,
    );
    await one.until(shows(`(cut here, of ${tooLong} characters)`));
    await choose(one, "addressee", program.agentId);
    const request = `Request to ${quoted(markup, { max: 64 })}`;
    await one.until(shows(request));
    await one.fill(request, "how long?");
    await one.press("Send");
    // Joined: the reply stands in what was asked.
    await one.until(`[...document.querySelectorAll(".asked")].some((asked) =>
      asked.querySelector(".said-text").innerText === "how long?" &&
      asked.querySelector(".reply .said-text")?.innerText === "9 letters")`);
    // The claim of a name is in quotes, with what to think of it, and the id beside it.
    assertEquals(
      await one.evaluate(`document.querySelector(".reply .chip").innerText`),
      "unverified",
    );
    assertEquals(
      await one.evaluate(`document.querySelector(".reply code").innerText`),
      program.agentId,
    );
    // Others in the channel see the same pair.
    await two.until(
      `document.querySelector(".question .reply .said-text")?.innerText === "9 letters"`,
    );
    // The next one goes to the same member, as the page says.
    assertEquals(await one.evaluate(`document.getElementById("addressee").value`), program.agentId);
    await one.fill(request, "fail");
    await one.press("Send");
    await one.until(
      `document.querySelector(".asked .problem")?.innerText.includes("onerror") === true`,
    );
    for (const tab of [one, two]) {
      assertEquals(
        await tab.evaluate(`[window.hacked, document.querySelector("img, #app script")]`),
        [null, null],
      );
    }
  });

  if (hasPython) {
    await t.step("an agent in Python is heard in the page, and answers its requests", async () => {
      const link = await makeLink(one, room);
      secrets.push(link, link.split("#")[1] ?? "");
      const agent = opened.use(await startPythonAgent(stack, { folder: stack.relayDir, link }));
      for (const tab of [one, two, guest]) await hears(tab, "from Python");
      await choose(one, "addressee", agent.agentId);
      await one.fill(`Request to "python"`, "how long?");
      await one.press("Send");
      await one.until(`[...document.querySelectorAll(".reply .said-text")]
        .some((line) => line.innerText === "9 letters, says Python")`);
    });
  }

  await t.step("a person answers a program", async () => {
    const { id: self } = await ownAgent(one);
    const reply = (await program.channel(room)).request("yes or no?", {
      to: self,
      timeoutMs: 60_000,
    });
    await one.until(`document.querySelector(".question input") !== null`);
    await one.evaluate(`document.querySelector(".question input").value = "yes"`);
    await one.press("Answer");
    assertEquals((await reply).text(), "yes");
    await one.until(
      `document.querySelector(".question:not(:has(form)) .reply .said-text")?.innerText === "yes"`,
    );
  });

  await t.step("the meter counts cells, and shows what the relay sees", async () => {
    await one.until(shows("SendMessage: epoch"));
    await one.until(shows("Recordings of this channel stay closed to outsiders"));
    assertEquals(
      await one.evaluate(`document.querySelector(".sights").innerText.includes("first")`),
      false,
    );
    const counted =
      `Number(document.querySelector('[data-direction="sent"] [data-real]').dataset.real)`;
    assertGreater(Number(await one.evaluate(counted)), 5);
    // A browser slows down the clocks of tabs behind others.
    await one.call("Page.bringToFront");
    await choose(one, "cover", "strong");
    await one.until(shows("Connected over webtransport."));
    // Four a second, each way.
    await one.until(`[...document.querySelectorAll("[data-direction]")].every((row) =>
      Math.abs(Number(row.children[1].innerText) - 4) < 1 && Number(row.querySelector("[data-cover]").dataset.cover) > 8)`);
    assertEquals(await one.evaluate(`document.querySelectorAll(".mine").length >= 3`), true);
    assertOnlyWorkers(one, stack);
  });

  await t.step(
    "constant cover is sent by a worker from a file, and the meter counts each cell of it",
    async () => {
      const three = await browser.openTab();
      // Then the agent uses the fallback from the beginning, and all its cells are requests.
      await three.runFirst(`delete globalThis.WebTransport`);
      await three.open(`${stack.api.url}/console/live`);
      await untilConnected(three, "cells");
      assertEquals(three.workers.length, 0);
      await choose(three, "cover", "strong");
      await untilConnected(three, "cells");
      await three.until(
        `Number(document.querySelector('[data-direction="sent"] [data-cover]').dataset.cover) > 20`,
      );
      await three.press("Connection");
      await three.press("Disconnect");
      await three.until(shows("Not connected."));
      // Each cell is a request of its own, so the browser has counted them too. A connection that
      // is lost takes one with it.
      const { sent, shown, lost } = await eventually(
        { what: "as many cells on the meter as requests" },
        () => countCells(three),
        ({ sent, shown, lost }) => Math.abs(sent - shown) <= lost,
      );
      console.log(
        `cells sent by page and worker: ${sent} requests, ${shown} on the meter, ${lost} connections lost`,
      );
      assertGreater(sent, 20);
      assertOnlyWorkers(three, stack);
      assertClean(three);
      await three[Symbol.asyncDispose]();
    },
  );

  await t.step("the end of a session takes neither agent nor chat away", async () => {
    stack.api.clock.aheadMs += 3_601_000;
    await one.press("Keys");
    await one.until(`document.querySelector("dialog[open]") !== null`);
    await logIn(one, visitor);
    await one.until(`document.querySelector("dialog[open]") === null`);
    await one.press("Live");
    await one.until(shows("heard"));
    stack.api.clock.aheadMs -= 3_601_000;
  });

  await t.step("a second guest of the channel comes in beside the first", async () => {
    const link = await makeLink(one, room, "for a guest ");
    secrets.push(link, link.split("#")[1] ?? "", parseJoinLink(link).pass ?? link);
    const other = await (await browser.newPerson()).openTab();
    await other.open(link);
    await other.press("Join the channel");
    await other.fill("Message", "me too");
    await other.press("Send");
    await hears(one, "me too");
  });

  await t.step(
    "members, owners and policy stand beside the conversation, and its owner closes it",
    async () => {
      await one.until(
        `${shows(`${hasPython ? 6 : 5} members`)} && ${
          shows("Members let others in, members write.")
        }`,
      );
      assertEquals(
        await one.evaluate(`document.querySelectorAll(".members li").length`),
        hasPython ? 6 : 5,
      );
      assert(
        String(await one.evaluate(`document.querySelector(".members").innerText`)).includes(
          "owner",
        ),
      );
      await one.press(`Close ${room}`);
      await one.press("Close it");
      await one.until(shows("it is in no channel yet"));
    },
  );

  await t.step(
    "asks the relay for the account's other channels, and closes one of them",
    async () => {
      const other = "acme/ops/elsewhere";
      const elsewhere = await StaticClient.connect({
        endpoint: `${stack.quicUrl},${stack.grpcUrl}`,
        apiUrl: stack.api.url,
        apiKey: firstKey,
        tls: { caFile: stack.caFile },
        dataDir: `${stack.relayDir}/elsewhere`,
        identity: "elsewhere",
      });
      opened.defer(() => elsewhere.close());
      await elsewhere.createChannel(other);
      await one.press("Other channels of this account");
      await one.press("Ask the relay");
      await one.until(`${shows(other)} && ${shows("1 member")}`);
      await one.press(`Close ${other}`);
      await one.press("Close it");
      await one.until(`!${shows(other)} && ${shows("There is none.")}`);
    },
  );

  await t.step("an operator sees that the relay answers", async () => {
    const folder = stack.backend.environment["STATIC_DATA_DIR"] ?? "";
    const secret = (await Deno.readTextFile(`${folder}/admin_secret`)).trim();
    const look = async (): Promise<unknown> => {
      const response = await fetch(`${stack.api.adminUrl}/admin/v1/view`, {
        method: "POST",
        headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
        body: JSON.stringify({ view: "health" }),
      });
      const { database, relays } = await response.json();
      return [
        database.ok,
        relays.map(({ ok, problem }: { ok: boolean; problem?: string }) => problem ?? ok),
      ];
    };
    // The relay reads the API's clock, which a step before moved, every few seconds.
    const healthy = JSON.stringify([true, [true]]);
    await eventually({ what: healthy }, look, (seen) => JSON.stringify(seen) === healthy);
  });

  await t.step(
    "nothing broke the policy, and no secret is stored or was sent in an address",
    async () => {
      for (const tab of [one, two, guest]) {
        assertEquals(await storedBy(tab), nothingStored);
        assertEquals(await foundInDatabases(tab, [...secrets, room, "here I am"]), []);
        assertClean(tab);
        const addresses = [...await visited(tab), ...tab.requests.map(({ url }) => url)];
        for (const secret of secrets) {
          assertEquals(addresses.filter((address) => address.includes(secret)), []);
        }
        assertEquals(
          tab.requests.flatMap(({ headers }) => headers["Referer"] || []),
          [],
        );
      }
      for (const secret of secrets) assert(!stack.api.logs.some((line) => line.includes(secret)));
    },
  );

  await t.step(
    "the policy binds workers too, and a worker that broke it would have been noticed",
    async () => {
      const expression = `void fetch("https://elsewhere.example/").catch(() => {})`;
      const look = async (): Promise<readonly string[]> => {
        // A worker may end before it is asked; then there is another one.
        await one.workers.at(-1)?.call("Runtime.evaluate", { expression }).catch(() => {});
        return one.violations;
      };
      await eventually({ what: "a violation" }, look, ({ length }) => length > 0);
      assertMatch(String(one.violations[0]), /connect-src/);
    },
  );
});
