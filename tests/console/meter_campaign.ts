// The privacy meter in a real browser, against a tap on the wire and against the relay's own
// accounts. A campaign: it watches cover traffic for half a minute.
import { assert, assertEquals, assertGreater } from "@std/assert";
import { limits } from "../../proto/mod.ts";
import { tried } from "../support/campaign.ts";
import { eventually, testWhen } from "../support/mod.ts";
import { chromium } from "../support/runtime/chromium.ts";
import { openBrowser, type Tab } from "../support/runtime/tab.ts";
import { startStack } from "../support/stack.ts";
import { choose, connectBy, openChannel, say, untilConnected } from "./live_visitor.ts";
import { assertClean, newVisitor, shows, signUp } from "./visitor.ts";
import { type Side, Wire } from "./wire.ts";

const sides = ["up", "down"] as const;
const directions = { up: "sent", down: "received" } as const;
const messages = 20;
/** The page draws the meter once a second. */
const drawnMs = 2_500;
/**
 * Cells under way while the page is read: a second of drawing and one of the network, at four a
 * second, twice over.
 */
const underWay = 16;

interface Shown {
  readonly real: number;
  readonly cover: number;
  readonly rate: number;
}

/** The numbers on the page. */
async function meter(tab: Tab, side: Side): Promise<Shown> {
  const text = await tab.evaluate(`(() => {
    const row = document.querySelector('[data-direction="${directions[side]}"]');
    const [real, cover] = [row.querySelector("[data-real]").dataset.real, row.querySelector("[data-cover]").dataset.cover];
    return JSON.stringify({ real: Number(real), cover: Number(cover), rate: Number(row.children[1].innerText) });
  })()`);
  return JSON.parse(String(text));
}

async function cellsShown(tab: Tab): Promise<Record<Side, number>> {
  const [up, down] = [await meter(tab, "up"), await meter(tab, "down")];
  return { up: up.real + up.cover, down: down.real + down.cover };
}

/** Resolves when every side has had this many more cells of cover than now. */
async function watchCover(tab: Tab, cells: number): Promise<void> {
  const before = { up: (await meter(tab, "up")).cover, down: (await meter(tab, "down")).cover };
  await eventually(
    { withinMs: 120_000, what: `${cells} cells of cover` },
    async () => ({ up: (await meter(tab, "up")).cover, down: (await meter(tab, "down")).cover }),
    (now) => sides.every((side) => now[side] - before[side] >= cells),
  );
}

async function untilQuiet(wire: Wire): Promise<void> {
  const look = (): Promise<number> => Promise.resolve(wire.quietMs);
  await eventually({ what: "a quiet wire" }, look, (ms) => ms > drawnMs);
}

testWhen(chromium, "the privacy meter tells what is on the wire", async (t) => {
  await using opened = new AsyncDisposableStack();
  const wire = opened.use(new Wire());
  const stack = opened.use(await startStack({ between: (relay) => wire.between(relay) }));
  const browser = opened.use(
    await openBrowser("--ignore-certificate-errors", "--window-size=1440,900"),
  );
  const tab = await browser.openTab();
  const apiKey = await signUp(tab, stack.api, newVisitor());
  await tab.press("I have kept it");

  await t.step(
    `without cover, ${messages} messages are as many cells on the page as on the wire, exactly`,
    async () => {
      // Then the agent uses the fallback from the beginning.
      await tab.evaluate(
        `globalThis.usualTransport = WebTransport; delete globalThis.WebTransport`,
      );
      await tab.press("Live");
      await untilConnected(tab, "cells");
      await choose(tab, "cover", "off");
      await untilConnected(tab, "cells");
      await openChannel(tab, "acme/ops/meter");
      await untilQuiet(wire);
      const [pageBefore, wireBefore] = [await cellsShown(tab), cellsOn(wire)];
      for (let i = 0; i < messages; i++) {
        await say(tab, `message ${i}`);
        // One after the other: replies that leave together share a cell.
        await tab.until(
          `document.querySelectorAll(".mine").length === ${i + 1} && !${shows("sending …")}`,
        );
      }
      await untilQuiet(wire);
      const [page, seen] = [await cellsShown(tab), cellsOn(wire)];
      for (const side of sides) {
        const [onPage, onWire] = [page[side] - pageBefore[side], seen[side] - wireBefore[side]];
        console.log(
          `without cover, ${side}: page ${onPage} cells, wire ${onWire}; lengths ${
            lengthsOf(wire, side)
          }`,
        );
        assertEquals(onPage, onWire, side);
        assertGreater(onPage, messages - 1, side);
      }
    },
  );

  await t.step("with constant cover both tell the same cells, and the same rate", async () => {
    await tab.call("Page.bringToFront");
    await choose(tab, "cover", "strong");
    await untilConnected(tab, "cells");
    await watchCover(tab, 44);
    const page = await cellsShown(tab);
    const seen = cellsOn(wire);
    for (const side of sides) {
      const { rate, real, cover } = await meter(tab, side);
      console.log(
        `constant cover, ${side}: page ${page[side]} (${real} real, ${cover} cover), wire ${
          seen[side]
        }, ${rate}/s`,
      );
      assertNear(page[side], seen[side], underWay, side);
      assertNear(rate, 4, 1, side);
    }
  });

  await t.step(
    "over WebTransport the wire has the bytes of the meter's cells, and little more",
    async () => {
      await tab.evaluate(`globalThis.WebTransport = usualTransport; undefined`);
      await connectBy(tab, "webtransport", "webtransport");
      await watchCover(tab, 8);
      const [pageBefore, bytesBefore] = [await cellsShown(tab), bytesOn(wire)];
      await watchCover(tab, 60);
      const [page, bytes] = [await cellsShown(tab), bytesOn(wire)];
      for (const side of sides) {
        const cells = page[side] - pageBefore[side];
        const ratio = (bytes[side] - bytesBefore[side]) / (cells * limits.cellBytes);
        console.log(
          `WebTransport, ${side}: ${cells} cells, ${
            ratio.toFixed(3)
          } bytes on the wire for each byte of them`,
        );
        // QUIC adds heads and acknowledgements; the page is up to a second behind.
        assert(ratio > 0.85 && ratio < 1.35, `${side}: ${ratio}`);
      }
    },
  );

  await t.step("the relay's account of cover is the meter's", async () => {
    await tab.press("Connection");
    await tab.press("Disconnect");
    await tab.until(shows("Not connected."));
    await untilQuiet(wire);
    const [up, down] = [await meter(tab, "up"), await meter(tab, "down")];
    stack.signalRelay("SIGTERM");
    const { json } = await eventually(
      { withinMs: 30_000, what: "the relay's last report" },
      () => stack.api.call("GET", "/v1/usage", { key: apiKey }),
      ({ json }) => json.bytes.cover > 0,
    );
    const [counted, shown] = [json.bytes.cover / limits.cellBytes, up.cover + down.cover];
    console.log(`cover: meter ${shown} cells, usage ${counted}`);
    // A connection that ends takes the cells with it that are under way.
    assertNear(shown, counted, underWay);
  });

  assertClean(tab);
  tried(`${messages} messages on the privacy meter`);
});

function assertNear(actual: number, expected: number, tolerance: number, what = "cells"): void {
  assert(
    Math.abs(actual - expected) <= tolerance,
    `${what}: ${actual} is not within ${tolerance} of ${expected}`,
  );
}

function cellsOn(wire: Wire): Record<Side, number> {
  return { up: wire.traffic("up").cells, down: wire.traffic("down").cells };
}

function bytesOn(wire: Wire): Record<Side, number> {
  return { up: wire.traffic("up").datagramBytes, down: wire.traffic("down").datagramBytes };
}

/** How often each length of a record was seen. */
function lengthsOf(wire: Wire, side: Side): string {
  const counts = new Map<number, number>();
  for (const bytes of wire.traffic(side).records) counts.set(bytes, (counts.get(bytes) ?? 0) + 1);
  return [...counts].map(([bytes, times]) => `${times} x ${bytes}`).join(", ");
}
