import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { tried } from "../support/campaign.ts";
import { freePort, natsInstalled, natsProgram, testWhen } from "../support/mod.ts";
import { isLetIn, presentAt } from "../support/nats_stranger.ts";
import {
  inFolder,
  isRunning,
  processOf,
  root,
  type RunningStack,
  startStack,
} from "./stack_process.ts";

testWhen(natsInstalled, "deno task start --relays 3", (t) =>
  inFolder(async (folder) => {
    const variables = {
      STATIC_NATS_SERVER: await natsProgram(),
      STATIC_NATS_PORT: String(freePort()),
    };
    const stack = await startStack(folder, ["--relays", "3"], variables);
    await t.step("names three relays, and two agents talk over whichever they find", async () => {
      assertEquals(relaysOf(stack).length, 3);
      await talk(stack);
    });
    await t.step("lets nobody in who has no key", async () => {
      const ca = await Deno.readTextFile(`${folder}/nats/keys/node/ca.pem`);
      const firstPort = Number(variables.STATIC_NATS_PORT);
      for (const [at, first] of [["client", firstPort], ["route", firstPort + 2]] as const) {
        for (const port of [first, first + 10, first + 20]) {
          const said = [await presentAt(port, { at }), await presentAt(port, { at, ca })];
          assertEquals(said.map(isLetIn), [false, false], said.join());
        }
      }
    });
    await t.step("keeps from nodes and relays what only the API may know", () =>
      compareVariables(stack));
    await t.step(
      "starts a node and a relay again that were killed, and agents talk on",
      async () => {
        Deno.kill(await nodeOf(stack, 2), "SIGKILL");
        Deno.kill(await processOf(stack.child.pid, `relays/3`), "SIGKILL");
        await stack.printed(/NATS 2 runs again/);
        await stack.printed(/Relay 3 runs again/);
        await talk(stack);
      },
    );
    await t.step("ends everything on Ctrl-C", async () => {
      const nodes = await Promise.all([1, 2, 3].map((node) =>
        nodeOf(stack, node)
      ));
      stack.child.kill("SIGINT");
      assertEquals(await stack.ended(), 0);
      assert(!nodes.some(isRunning), "nodes have ended");
    });
    await t.step(
      "starts again with what it had, and leaves no node behind when it is killed itself",
      async () => {
        const again = await startStack(folder, ["--relays", "3"], variables);
        await talk(again);
        const relay = await processOf(again.child.pid, "relays/1");
        const parts = [relay, ...await Promise.all([1, 2, 3].map((node) => nodeOf(again, node)))];
        Deno.kill(await processOf(again.child.pid, "start.ts"), "SIGKILL");
        await again.ended();
        // wait: for processes that are nobody's children any more; the test would hang, and fail,
        // if they stayed
        while (parts.some(isRunning)) await new Promise((resolve) => setTimeout(resolve, 50));
      },
    );
    tried("2 starts of three relays");
  }));

async function nodeOf({ child }: RunningStack, node: number): Promise<number> {
  return await processOf(child.pid, `nats/${node}/nats.conf`, "nats-server");
}

function relaysOf(stack: RunningStack): string[] {
  return Array.from(stack.output().matchAll(/^Relay +(quic:\S+)/gm), ([, url]) => url ?? "");
}

/** `static demo`, with the variables that the stack itself names. */
async function talk(stack: RunningStack): Promise<void> {
  const line = /^ +export (.+)$/m.exec(stack.output())?.[1] ?? "";
  assertStringIncludes(line, "STATIC_RELAY_URL=quic://");
  const home = await Deno.makeTempDir({ prefix: "static-demo-" });
  try {
    const { success, stdout, stderr } = await new Deno.Command("sh", {
      args: ["-c", `export ${line}; exec "$0" task --quiet static demo`, Deno.execPath()],
      cwd: root,
      env: { HOME: home, XDG_CONFIG_HOME: `${home}/config`, NO_COLOR: "1" },
      stdin: "null",
    }).output();
    const output = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
    assert(success, output);
    assertMatch(output, /\S/);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

/** Names that are in the environment of a node or a relay and should not be. */
async function compareVariables(stack: RunningStack): Promise<void> {
  for (const pid of [await nodeOf(stack, 1), await processOf(stack.child.pid, "relays/2")]) {
    const names = Deno.readTextFileSync(`/proc/${pid}/environ`).split("\0").map((variable) =>
      variable.split("=")[0]
    );
    assertEquals(
      names.filter((name) =>
        /^(DATABASE_URL|STATIC_(DATABASE_CA|JWT_KEYS|ADMIN_SECRET|SMTP_URL))$/.test(name ?? "")
      ),
      [],
    );
  }
}
