import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  eventually,
  freePort,
  natsInstalled,
  natsProgram,
  testWhen,
} from "../../tests/support/mod.ts";
import { isLetIn, presentAt } from "../../tests/support/nats_stranger.ts";
import { keepLocalKeys } from "./nats_keys.ts";
import { createMonitorClient, type NatsNode, natsVersion } from "./nats_server.ts";
import { type ListeningReport, SupervisedProcess } from "./supervised_process.ts";
import { spawnNatsNode } from "./nats_process.ts";
import { placeNodes } from "./cluster_layout.ts";

interface Stage {
  readonly parts: readonly SupervisedProcess[];
  readonly said: string[];
  readonly lines: string[];
  readonly folder: string;
  readonly nodes: readonly NatsNode[];
  /** Resolves once this was said or logged. */
  until(pattern: RegExp): Promise<void>;
}

async function createStage(): Promise<Stage> {
  const [folder, program] = [
    await Deno.makeTempDir({ prefix: "static-nodes, o'clock " }),
    await natsProgram(),
  ];
  const nodes = placeNodes(freePort(), folder);
  await keepLocalKeys(`${folder}/nats`);
  const [said, lines]: [string[], string[]] = [[], []];
  const parts = nodes.map((node) =>
    new SupervisedProcess({
      name: `NATS ${node.number}`,
      spawn: () => spawnNatsNode(program, node, nodes),
      onLine: (line) => void lines.push(line),
      say: (text) => void said.push(text),
      after: (ms, run) => {
        const timer = setTimeout(run, ms);
        return () => clearTimeout(timer);
      },
      nowMs: () => performance.now(),
    })
  );
  const heard = (pattern: RegExp): Promise<boolean> =>
    Promise.resolve([...said, ...lines].some((one) => pattern.test(one)));
  const until = async (pattern: RegExp): Promise<void> => {
    await eventually({ what: String(pattern) }, () => heard(pattern), (is) => is);
  };
  return { parts, said, lines, folder, nodes, until };
}

/** Of the program that was started for this folder. */
async function pidOf(folder: string): Promise<number | undefined> {
  for await (const { name } of Deno.readDir("/proc")) {
    const text = /^\d+$/.test(name)
      ? await Deno.readTextFile(`/proc/${name}/cmdline`).catch(() => "")
      : "";
    if (/^[^\0]*nats-server\0/.test(text) && text.includes(`${folder}/nats.conf`)) {
      return Number(name);
    }
  }
  return undefined;
}

/**
 * Without their keys nobody is let in by nodes, and what they tell everybody on this machine has no
 * secrets.
 */
async function assertClosedToStrangers({ nodes, folder }: Stage): Promise<void> {
  const keys = `${folder}/nats/keys`;
  const ca = await Deno.readTextFile(`${keys}/node/ca.pem`);
  for (const { clientPort, routePort, monitorPort } of nodes) {
    assertStringIncludes(
      await presentAt(clientPort, { at: "client", ca }),
      "Authorization Violation",
    );
    const others = [
      await presentAt(clientPort, { at: "client" }),
      await presentAt(routePort, { at: "route" }),
      await presentAt(routePort, { at: "route", ca }),
    ];
    assertEquals(others.map(isLetIn), [false, false, false], others.join());
    const plain = await fetch(`http://127.0.0.1:${monitorPort}/varz`);
    assertEquals([plain.status, (await plain.text()).includes("server_id")], [400, false]);
  }
  const [node] = nodes;
  assert(node !== undefined);
  using client = createMonitorClient(node);
  const files = ["node/node.key", "relay/relay.creds"].map((path) =>
    Deno.readTextFileSync(`${keys}/${path}`)
  );
  const secrets = files.flatMap((text) =>
    text.split("\n").filter((line) => /^[\w+/=]{20,}$/.test(line))
  );
  assertEquals(secrets.length > 2, true);
  for (
    const path of [
      "varz",
      "connz?auth=1&subs=1",
      "routez",
      "jsz?config=1&streams=1&consumers=1",
      "accountz",
    ]
  ) {
    const text = await (await fetch(`https://127.0.0.1:${node.monitorPort}/${path}`, { client }))
      .text();
    assertEquals(secrets.filter((secret) => text.includes(secret)), [], path);
  }
}

testWhen(
  natsInstalled,
  "nodes of NATS are parts: up together, started again when they die, closed to strangers, gone when they are let go",
  async () => {
    const stage = await createStage();
    const { parts, folder } = stage;
    try {
      const up: ListeningReport[] = await Promise.all(parts.map((part) => part.start()));
      assertEquals(up.map(({ url }) => url?.startsWith("tls://127.0.0.1:")), [true, true, true]);
      const second = await pidOf(`${folder}/nats/2`);
      assert(second !== undefined);
      Deno.kill(second, "SIGKILL");
      await stage.until(/^NATS 2 ended with code .*starting it again in 0.5 s/);
      await stage.until(/^NATS 2 runs again/);
      assert(
        stage.lines.some((line) => line.includes("Server is ready")),
        "what it logs is a part's log",
      );
      await assertClosedToStrangers(stage);
    } finally {
      const [first, ...others] = parts;
      first?.kill();
      await Promise.all(others.map((part) => part.stop(20_000)));
      const gone = async (): Promise<(number | undefined)[]> =>
        await Promise.all([1, 2, 3].map((node) => pidOf(`${folder}/nats/${node}`)));
      await eventually({ what: "gone" }, gone, (pids) => pids.every((pid) => pid === undefined));
      await Deno.remove(folder, { recursive: true });
    }
  },
);

testWhen(natsInstalled, "a node that cannot start tells why", async () => {
  const folder = await Deno.makeTempDir({ prefix: "static-nodes-" });
  const program = await natsProgram();
  assert(natsVersion(program) !== undefined);
  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = taken.addr as Deno.NetAddr; // cast: of TCP
  const ports = { clientPort: port, monitorPort: freePort(), routePort: freePort() };
  const node = { number: 1, ...ports, folder: `${folder}/1` };
  await keepLocalKeys(folder);
  const process = spawnNatsNode(program, node, [node]);
  const reading = Array.fromAsync(process.lines);
  await process.ended;
  await reading;
  assertStringIncludes(process.complaints(), "address already in use");
  await Deno.remove(folder, { recursive: true });
});

testWhen(
  natsInstalled,
  "a node that is frozen before it is well is ended, and told of",
  async () => {
    const folder = await Deno.makeTempDir({ prefix: "static-nodes-" });
    await keepLocalKeys(`${folder}/nats`);
    const nodes = placeNodes(freePort(), folder);
    const [node] = nodes;
    assert(node !== undefined);
    // Alone it is never well: it knows of two others.
    const process = spawnNatsNode(await natsProgram(), node, nodes, {
      questionMs: 500,
      silenceMs: 3_000,
    });
    let over: string | undefined;
    const ended = Promise.all([process.ended, Array.fromAsync(process.lines)]).then(([how]) => {
      over = how;
    });
    const pid = await eventually(
      { what: "a node" },
      () => pidOf(node.folder),
      (pid) => pid !== undefined,
    );
    assert(pid !== undefined);
    Deno.kill(pid, "SIGSTOP");
    try {
      await eventually(
        { what: "its end" },
        () => Promise.resolve(over),
        (how) => how !== undefined,
      );
      assertStringIncludes(process.complaints(), "did not answer for 3 s");
    } finally {
      if (over === undefined) {
        process.kill();
      }
      await ended;
      await Deno.remove(folder, { recursive: true });
    }
  },
);
