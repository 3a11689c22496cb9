/**
 * Full and read-only disks: the store in Node, and an agent's whole life with its disk full at one
 * place after the other.
 */
import { assert, assertEquals } from "@std/assert";
import { type Channel, ChannelManager, type ConnectOptions, StaticError } from "../../sdk/mod.ts";
import { createProject } from "../../tools/bundle.ts";
import { tried } from "../support/campaign.ts";
import { createRandom, eventually, seedFromEnvironment, testWhen } from "../support/mod.ts";
import { chromium } from "../support/runtime/chromium.ts";
import { node, runInNode } from "../support/runtime/node.ts";
import { openTab } from "../support/runtime/tab.ts";
import { optionsFor } from "./clients.ts";
import { fillEverywhere, range, refuseReadOnly, type Use, valueBytes } from "./full_disk.ts";
import { SmallDisk, smallDisks } from "./small_disk.ts";
import { Stack } from "./stack.ts";
import { useStore } from "./store_use.ts";

testWhen(
  { met: smallDisks.met && node.met, reason: `${smallDisks.reason}, or ${node.reason}` },
  "Node says the same of a full and of a read-only disk",
  async () => {
    await using project = await createProject();
    const bundle = await project.bundle(new URL("store_use_node.ts", import.meta.url), "node");
    const inNode: Use = async (folder, numbers) =>
      JSON.parse(
        await runInNode(
          bundle,
          folder,
          ...[numbers[0] ?? 0, numbers.length, valueBytes].map(String),
        ),
      );
    await fillEverywhere(inNode);
    await refuseReadOnly(inNode);
  },
);

testWhen(
  smallDisks,
  "a store whose log becomes a table on a full disk says so, and loses nothing",
  async () => {
    // More than LevelDB keeps in memory.
    const [count, bytes] = [40, 200_000];
    await using disk = await SmallDisk.mount(64);
    const folder = `${disk.folder}/agent`;
    await useStore(folder, [0], bytes);
    await disk.fill({ leavingPages: 1400 });
    const { refused, acknowledged } = await useStore(folder, range(1, count), bytes);
    assertEquals([refused?.step, refused?.code], ["write", "store_full"]);
    await disk.free();
    const after = await useStore(folder, [], bytes);
    assertEquals(after.refused, undefined);
    for (const number of [0, ...acknowledged]) {
      assert(
        after.found.includes(number),
        `${number} of ${acknowledged}`,
      );
    }
  },
);

testWhen(
  chromium,
  "Chromium says the same of a site without room, and goes on when there is some",
  async () => {
    await using project = await createProject();
    const bundle = await project.bundle(
      new URL("store_use_browser.ts", import.meta.url),
      "browser",
    );
    const code = await Deno.readFile(bundle);
    await using server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      ({ url }) => {
        const isCode = new URL(url).pathname === "/bundle.mjs";
        const body = isCode
          ? code
          : '<!doctype html><script type="module" src="/bundle.mjs"></script>';
        return new Response(body, {
          headers: { "content-type": isCode ? "text/javascript" : "text/html" },
        });
      },
    );
    const origin = `http://127.0.0.1:${server.addr.port}`;
    await using tab = await openTab();
    await tab.open(origin);
    await tab.until("typeof useBrowserStore === 'function'");
    const use = async (count: number): Promise<Record<string, unknown>> =>
      JSON.parse(String(await tab.evaluate(`useBrowserStore(${count})`)));
    // Before its first use: a browser that has found room for a site asks again only later.
    await tab.call("Storage.overrideQuotaForOrigin", { origin, quotaSize: 500_000 });
    const { acknowledged, ...refused } = await use(1000);
    const text =
      "Cannot write to the store: the browser has no more room for this site. Free space, then connect again";
    assertEquals(refused, { found: 0, code: "store_full", text });
    await tab.call("Storage.overrideQuotaForOrigin", { origin });
    assertEquals(await use(1), { found: acknowledged, acknowledged: 1 });
  },
);

const home = "acme/full/home";
/** Enough for several writes. */
const textsEach = 40;
const steps = ["connect", "create", "add", "join", "send", "receive", "commit", "close"] as const;
type Step = typeof steps[number];
/** Where the disk gets full: after so many more pages, or before a step. */
const places: readonly (number | Step)[] = [
  ...Array.from({ length: 28 }, (_, pages) => pages),
  ...steps,
];

/** The doings of one agent, over all its starts. */
interface Life {
  readonly number: number;
  readonly sent: string[];
  readonly tried: string[];
  readonly heard: Set<string>;
  step: Step;
}

function textsFor({ number }: Pick<Life, "number">): string[] {
  return Array.from({ length: textsEach }, (_, i) => `for ${number}: ${i}`);
}

/** From where it was interrupted to its end. */
async function live(
  options: ConnectOptions,
  life: Life,
  { ann, token, before }: Company,
): Promise<void> {
  const begin = async (step: Step): Promise<void> => {
    life.step = step;
    await before(step);
  };
  await begin("connect");
  const manager = await ChannelManager.connect(options);
  try {
    await begin("create");
    const own = await manager.client.openChannel(`acme/full/own-${life.number}`);
    await begin("add");
    if (own.members().length === 1) await own.addMember(await ann.client.generateKeyPackage());
    await begin("join");
    const isIn = manager.client.channels.includes(home);
    const joined = isIn ? await manager.channel(home) : await manager.joinWithToken(home, token);
    await begin("send");
    for (let i = life.tried.length; i < textsEach; i++) {
      const text = `of ${life.number}: ${i}`;
      life.tried.push(text);
      await joined.send(text);
      life.sent.push(text);
    }
    await begin("receive");
    await hearAll(joined, life);
    await begin("commit");
    await joined.rotate();
    await begin("close");
  } finally {
    await manager.close();
  }
}

async function hearAll(joined: Channel, life: Life): Promise<void> {
  const wanted = textsFor(life);
  for await (const payload of joined.messages({ signal: AbortSignal.timeout(60_000) })) {
    life.heard.add(new TextDecoder().decode(payload));
    if (wanted.every((text) => life.heard.has(text))) break;
  }
}

interface Company {
  readonly ann: ChannelManager;
  readonly token: string;
  /** Before each step. */
  readonly before: (step: Step) => Promise<void>;
}

testWhen(
  smallDisks,
  "wherever the disk of an agent gets full, it says so, and its next start goes on without loss or double",
  async () => {
    const seed = seedFromEnvironment();
    await using stack = await Stack.start({ random: createRandom(seed), ways: ["all"] });
    const credential = { apiUrl: stack.api.url, apiKey: stack.account.apiKey };
    await using ann = await ChannelManager.connect({ ...optionsFor(stack, "ann"), ...credential });
    const channel = await ann.create(home);
    const heard: string[] = [];
    const listening = (async () => {
      for await (const payload of channel.messages()) heard.push(new TextDecoder().decode(payload));
    })();
    const refused = new Set<Step>();
    for (const [number, place] of places.entries()) {
      await using disk = await SmallDisk.mount(16);
      const life: Life = { number, sent: [], tried: [], heard: new Set(), step: "connect" };
      const token = await ann.invite(home);
      const name = `ben${number}`;
      const options = { ...optionsFor(stack, name), ...credential, dataDir: `${disk.folder}/ben` };
      const isBen = ({ identity }: { readonly identity: string }): boolean => identity === name;
      const speaking = eventually(
        { what: `${name} in the channel` },
        () => Promise.resolve(channel.members()),
        (members) => members.some(isBen),
      ).then(async () => {
        for (const text of textsFor(life)) await channel.send(text);
      });
      if (typeof place === "number") await disk.fill({ leavingPages: place });
      const before = async (step: Step): Promise<void> => {
        if (step === place) await disk.fill();
      };
      const failure = await live(options, life, { ann, token, before }).then(
        () => undefined,
        (error: unknown) => error,
      );
      await disk.free();
      const where = `seed ${seed}, full at ${place}, refused at ${life.step}: ${String(failure)}`;
      if (failure !== undefined) {
        refused.add(life.step);
        assert(failure instanceof StaticError && failure.code === "store_full", where);
        await live(options, life, { ann, token, before: () => Promise.resolve() }).catch(
          (error) => {
            throw new Error(`${where}: its next start`, { cause: error });
          },
        );
      }
      await speaking;
      await eventually(
        { what: `all of ${name}` },
        () => Promise.resolve(heard),
        (heard) => life.sent.every((text) => heard.includes(text)),
      );
      for (const text of life.tried) {
        assert(heard.filter((each) => each === text).length <= 1, `${where}: ${text} twice`);
      }
      assertEquals(channel.health().missing, [], where);
      const bens = channel.members().filter(isBen);
      assertEquals(bens.length, 1, where);
      await channel.removeMember(bens[0]?.agentId ?? "");
    }
    console.log(`full at ${places.length} places, refused at`, [...refused]);
    tried(`an agent's disk full at ${places.length} places`);
    await ann.close();
    await listening;
    for (const step of ["connect", "create", "add"] as const) assert(refused.has(step), step);
  },
);
