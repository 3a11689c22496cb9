// Everything a bad or broken client does, over real TLS sockets, against a server in its own
// process whose freed memory is overwritten. After each attack the process lives, has let go of the
// attacker, and an honest client beside it was served throughout; at the end its memory is under
// the cap that server/http2/README.md states.
import { assert, assertEquals, assertLess } from "@std/assert";
import { inCampaign, tried } from "../support/campaign.ts";
import { createRandom, type Random, seedFromEnvironment } from "../support/mod.ts";
import { HonestClient } from "../support/http2/honest_client.ts";
import { RawClient } from "../support/http2/raw_client.ts";
import { perturbed, ServerProcess } from "../support/http2/server_process.ts";
import {
  block,
  bytes,
  concat,
  continuation,
  data,
  frame,
  getBlock,
  getFields,
  goaway,
  headers,
  ping,
  postBlock,
  preface,
  priority,
  rstStream,
  settings,
  settingsAck,
  windowUpdate,
} from "../support/http2/wire.ts";

const memoryCapMb = 400;
const rounds = inCampaign ? 100 : 1;
const eight = new Uint8Array(8);
const endlessBlock = block(
  ...getFields.map(([name, value]) => [name, name === ":path" ? "/endless" : value] as const),
);
const hangBlock = block(
  ...getFields.map(([name, value]) => [name, name === ":path" ? "/hang" : value] as const),
);

type Attack = (server: ServerProcess, random: Random) => Promise<void>;

async function each(count: number, act: (i: number) => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, i) => act(i)));
}

/** Sends until the server closes, and answers its last words. */
async function flood(
  server: ServerProcess,
  frames: readonly Uint8Array[],
  first: readonly Uint8Array[] = [],
): Promise<string> {
  using client = await RawClient.open(server);
  const said = client.drain();
  await client.send(...first);
  const burst = concat(...Array.from({ length: 500 }, () => concat(...frames)));
  for (let i = 0; i < 100 && await client.send(burst); i++);
  return (await said).at(-1) ?? "";
}

/** Says something once and must be told goodbye. */
async function offend(server: ServerProcess, ...sent: readonly Uint8Array[]): Promise<string> {
  using client = await RawClient.open(server);
  await client.send(...sent);
  return (await client.drain()).at(-1) ?? "";
}

const attacks: Readonly<Record<string, Attack>> = {
  "connections that come and go": async (server) => {
    await each(40, async (i) => {
      if (i % 4 === 0) {
        using tcp = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
        await tcp.write(bytes(22, 3, 1));
        return;
      }
      using client = await RawClient.connect(server);
      if (i % 4 > 1) await client.send(preface, settings());
      if (i % 4 > 2) await client.send(headers(1, getBlock), goaway(0, 0));
    });
  },
  "no TLS at all": async (server, random) => {
    await each(10, async () => {
      using tcp = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
      await tcp.write(concat(preface, random.bytes(200)));
      while (await tcp.read(new Uint8Array(1_000)).catch(() => null) !== null);
    });
  },
  "GOAWAY in every form": async (server) => {
    for (const error of [0, 1, 11, 0xffffffff]) {
      for (
        const before of [[], [headers(1, getBlock)], [headers(1, postBlock, 4)], [
          headers(1, hangBlock, 4),
        ]]
      ) {
        using client = await RawClient.open(server);
        await client.send(...before, goaway(0, error), goaway(2 ** 31 - 1, error));
      }
    }
    assertEquals(await offend(server, frame(7, 0, 3, eight)), "GOAWAY 0 PROTOCOL_ERROR");
    assertEquals(await offend(server, frame(7, 0, 0, bytes(1))), "GOAWAY 0 FRAME_SIZE_ERROR");
  },
  "rapid reset": async (server) => {
    const frames = Array.from(
      { length: 20_000 },
      (_, i) => concat(headers(2 * i + 1, hangBlock), rstStream(2 * i + 1, 8)),
    );
    using client = await RawClient.open(server);
    const said = client.drain();
    await client.send(concat(...frames));
    assert((await said).at(-1)?.endsWith("ENHANCE_YOUR_CALM"));
  },
  "garbage after the preface": async (server, random) => {
    await each(20, async () => {
      using client = await RawClient.connect(server);
      await client.send(preface, random.bytes(1 + random.below(2_000)));
    });
  },
  "fuzzed frames": async (server, random) => {
    await each(20, async () => {
      using client = await RawClient.open(server);
      for (let i = 0; i < 50; i++) {
        const id = random.pick([0, 1, 1, 3, 5, 7]);
        const fuzz = frame(
          random.below(11),
          random.below(256),
          id,
          random.bytes(random.below(100)),
        );
        if (!await client.send(random.chance(0.3) ? headers(2 * i + 1, getBlock) : fuzz)) return;
      }
    });
  },
  "floods of control frames": async (server) => {
    for (
      const attack of [
        ping(eight),
        settings([4, 65_535]),
        settingsAck,
        priority(1, 0),
        windowUpdate(0, 1),
      ]
    ) {
      const last = await flood(server, [attack]);
      assert(
        last.endsWith("ENHANCE_YOUR_CALM") || last === "PING ACK" || last === "SETTINGS ACK",
        last,
      );
    }
  },
  "floods of CONTINUATION and empty DATA": async (server) => {
    assertEquals(
      await flood(server, [continuation(1, bytes())], [headers(1, getBlock, 0)]),
      "GOAWAY 0 ENHANCE_YOUR_CALM",
    );
    assertEquals(
      await flood(server, [data(1, bytes())], [headers(1, hangBlock, 4)]),
      "GOAWAY 1 ENHANCE_YOUR_CALM",
    );
  },
  "windows that overflow and streams that cannot be": async (server) => {
    const full = windowUpdate(0, 2 ** 31 - 1);
    assertEquals(await offend(server, full, full), "GOAWAY 0 FLOW_CONTROL_ERROR");
    assertEquals(await offend(server, settings([4, 2 ** 31])), "GOAWAY 0 FLOW_CONTROL_ERROR");
    assertEquals(await offend(server, headers(2, getBlock)), "GOAWAY 0 PROTOCOL_ERROR");
    assertEquals(await offend(server, data(0, eight)), "GOAWAY 0 PROTOCOL_ERROR");
    assertEquals(
      await offend(server, headers(7, hangBlock), headers(5, getBlock)),
      "GOAWAY 7 PROTOCOL_ERROR",
    );
    assertEquals(
      await offend(server, bytes(0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1)),
      "GOAWAY 0 FRAME_SIZE_ERROR",
    );
  },
  "a window exceeded by an upload that nobody reads": async (server) => {
    using client = await RawClient.open(server);
    const reset = client.until("RST_STREAM 1 FLOW_CONTROL_ERROR");
    await client.send(headers(1, hangBlock, 4));
    for (let i = 0; i < 20; i++) await client.send(data(1, new Uint8Array(16_384)));
    await reset;
  },
  "byte by byte": async (server) => {
    using client = await RawClient.connect(server);
    const said = client.until("HEADERS 1 END_STREAM");
    for (const byte of concat(preface, settings(), settingsAck, headers(1, getBlock))) {
      await client.send(bytes(byte));
    }
    await said;
  },
  "slow readers of endless responses": async (server) => {
    const before = (await server.stats()).rss;
    const readers = await Promise.all(Array.from({ length: 4 }, () => RawClient.open(server)));
    for (const reader of readers) {
      await reader.send(settings([4, 2 ** 31 - 1]), windowUpdate(0, 2 ** 31 - 1 - 65_535));
      await reader.openStreams(Array.from({ length: 200 }, (_, i) => 2 * i + 1), endlessBlock);
    }
    const { rss } = await server.until(({ streams }) => streams >= 800, "800 endless streams");
    assertLess((rss - before) / 1e6, 150, "a reader that does not read costs too much");
    // Nothing is read, so nothing is answered: the keep-alive finds them out.
    await server.until(({ streams }) => streams === 0, "rid of the slow readers", 30);
    for (const reader of readers) reader[Symbol.dispose]();
  },
  "slow writers": async (server) => {
    const writers = await Promise.all(Array.from({ length: 20 }, () => RawClient.open(server)));
    for (const [i, writer] of writers.entries()) {
      // Half a header block, half a frame, or half a body: each holds something open.
      if (i % 3 === 0) await writer.send(headers(1, getBlock, 0));
      else if (i % 3 === 1) await writer.send(headers(1, getBlock).slice(0, 15));
      else await writer.send(headers(1, postBlock, 4), data(1, eight));
    }
    await server.until(({ connections }) => connections === 21, "connected to the slow writers");
    await server.until(({ sockets }) => sockets <= 1, "rid of the slow writers", 30);
    for (const writer of writers) writer[Symbol.dispose]();
  },
  "clients killed in the middle of their calls": async (server) => {
    const script = new URL("../support/http2/doomed_client.ts", import.meta.url).pathname;
    const args = [
      "run",
      "-A",
      "--no-check",
      "--quiet",
      script,
      String(server.port),
      server.certFile,
    ];
    await each(2, async () => {
      const child = new Deno.Command(Deno.execPath(), { args, stdout: "piped", stdin: "null" })
        .spawn();
      const reader = child.stdout.getReader();
      await reader.read(); // it has opened its streams
      child.kill("SIGKILL");
      await reader.cancel();
      await child.status;
    });
  },
};

Deno.test("hostile clients do not hurt the server or its honest client", async (t) => {
  const random = createRandom(seedFromEnvironment());
  await using server = await ServerProcess.start({
    env: perturbed,
    budgets: {
      handshakeTimeoutMs: 2_000,
      keepAliveIntervalMs: 2_000,
      keepAliveTimeoutMs: 2_000,
      drainTimeoutMs: 2_000,
    },
  });
  const honest = await HonestClient.start(server);
  for (const [name, attack] of Object.entries(attacks)) {
    await t.step(name, async () => {
      const slow = name.startsWith("slow") || name.startsWith("clients killed");
      for (let round = 0; round < (slow ? 1 : rounds); round++) await attack(server, random);
      await server.until(
        ({ sockets, streams }) => sockets <= 1 && streams <= 1,
        "rid of the attacker",
        30,
      );
      assertEquals(honest.failures, [], `seed ${random.seed}`);
    });
  }
  await t.step(
    "afterwards: the honest client was served throughout, memory is under its cap",
    async () => {
      const { served, slowestMs, failures } = await honest.stop();
      const { rss, faults } = await server.until(({ sockets }) => sockets === 0, "without sockets");
      console.log(
        `    honest client: ${served} calls, slowest ${slowestMs.toFixed()} ms; server: ${
          (rss / 1e6).toFixed()
        } MB`,
      );
      assertEquals(failures, []);
      assert(served > 100, `only ${served} calls were served`);
      assertLess(rss / 1e6, memoryCapMb);
      // Handlers of /hang reject when their client goes; nothing else may have been reported.
      assertEquals(faults.filter((fault) => !fault.startsWith("StreamAborted")), []);
      tried(`${rounds} rounds of ${Object.keys(attacks).length} attacks`);
    },
  );
});
