// The stdio way in: a driver as a child, under Deno and, in a campaign, under Node, against a real
// API and a real relay.
import { assert, assertEquals, assertRejects } from "@std/assert";
import { StaticError } from "../../sdk/mod.ts";
import { createProject } from "../../tools/bundle.ts";
import { inCampaign, tried } from "../support/campaign.ts";
import { installed, testWhen } from "../support/mod.ts";
import { shareStack } from "../support/shared_stack.ts";
import type { SharedStack } from "../support/stack.ts";
import { type DriverProcess, startDriver } from "./driver_process.ts";

const entry = new URL("../../sdk/host/server/main.ts", import.meta.url);
const utf8 = new TextEncoder();

type Start = () => DriverProcess;

interface Place {
  readonly stack: SharedStack;
  readonly name: string;
}

async function connect(
  driver: DriverProcess,
  { api, account, quicUrl, grpcUrl, caFile }: SharedStack,
  more: {
    readonly dataDir: string;
    readonly identity: string;
  },
): Promise<void> {
  await driver.connection.call("connect", {
    dataDir: more.dataDir,
    manager: true,
    endpoint: `${quicUrl},${grpcUrl}`,
    apiUrl: api.url,
    apiKey: account.apiKey,
    tls: { caFile },
  }, { bytes: utf8.encode(more.identity) });
}

async function checkDriver(
  t: Deno.TestContext,
  start: Start,
  { stack, name }: Place,
): Promise<void> {
  const channel = { channel: name };
  const folder = await Deno.makeTempDir({ prefix: "static-driver-" });
  const [alice, bob] = ["alice", "bob"].map((identity) => ({
    dataDir: `${folder}/${identity}`,
    identity,
  }));
  if (alice === undefined || bob === undefined) throw new Error("unreachable");
  try {
    await t.step("says hello, connects, and talks", async () => {
      await using one = start();
      await using two = start();
      assertEquals((await one.connection.hello).number("protocol"), 1);
      await Promise.all([connect(one, stack, alice), connect(two, stack, bob)]);
      await one.connection.call("create", channel);
      const { fields } = await one.connection.call("invite", channel);
      await two.connection.call("joinWithToken", {
        ...channel,
        token: fields.text("token"),
        timeoutMs: 60_000,
      });
      await one.connection.call("send", channel, { bytes: utf8.encode("hello") });
      const { bytes } = await two.connection.call("receive", { ...channel, timeoutMs: 60_000 });
      assertEquals(new TextDecoder().decode(bytes), "hello");
      assert(!two.command.join(" ").includes(stack.account.apiKey));
      // The program goes without closing: what it was given comes again.
      await two.closeInput();
      assertEquals((await two.status).code, 0, await two.stderr);
    });
    await t.step(
      "what a program had not acknowledged comes again; close acknowledges",
      async () => {
        await using two = start();
        await connect(two, stack, bob);
        const again = await two.connection.call("receive", { ...channel, timeoutMs: 60_000 });
        assertEquals(new TextDecoder().decode(again.bytes), "hello");
        const locked = await startAndFail(start, stack, bob);
        assertEquals([locked.code, locked.name, locked.retryable], [
          "store_locked",
          "StoreError",
          true,
        ]);
        await two.connection.call("close");
      },
    );
    await t.step("a killed driver is told at once, and the next one goes on", async () => {
      await using two = start();
      await connect(two, stack, bob);
      const waiting = two.connection.call("receive", channel);
      two.kill();
      assertEquals((await assertRejects(() => waiting, StaticError)).code, "listener_died");
      await using three = start();
      await connectSoon(three, stack, bob);
      const none = await three.connection.call("receive", { ...channel, timeoutMs: 1 });
      assertEquals(none.fields.flag("none"), true);
    });
    await t.step("what is no frame ends it, in words", async () => {
      await using driver = start();
      await driver.connection.hello;
      driver.write(Uint8Array.of(0xff, 0xff, 0xff, 0xff));
      assertEquals((await driver.connection.over).code, "protocol_error");
      assertEquals((await driver.status).code, 0, await driver.stderr);
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function startAndFail(
  start: Start,
  stack: SharedStack,
  who: Parameters<typeof connect>[2],
): Promise<StaticError> {
  await using other = start();
  return await assertRejects(() => connect(other, stack, who), StaticError);
}

/** After a kill the lock is free when the system has ended the process. */
async function connectSoon(...[driver, stack, who]: Parameters<typeof connect>): Promise<void> {
  for (let tries = 0;; tries++) {
    try {
      return await connect(driver, stack, who);
    } catch (error) {
      if (!(error instanceof StaticError) || error.code !== "store_locked" || tries > 50) {
        throw error;
      }
      // wait: for the system to end a process
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

Deno.test("the driver over standard input and output, under Deno", async (t) => {
  const stack = await shareStack();
  const deno = (): DriverProcess =>
    startDriver([Deno.execPath(), "run", "-A", "--quiet", entry.pathname]);
  await checkDriver(t, deno, { stack, name: "acme/drivers/deno" });
});

if (inCampaign) {
  testWhen(
    installed("node"),
    "the driver over standard input and output, under Node",
    async (t) => {
      const stack = await shareStack();
      await using project = await createProject();
      const bundle = await project.bundle(entry, "node");
      const node = (): DriverProcess => startDriver(["node", bundle]);
      await checkDriver(t, node, { stack, name: "acme/drivers/node" });
      tried("the driver under Deno and Node");
    },
  );
}
