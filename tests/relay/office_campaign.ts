// An office of 500 agents behind the page's nginx, all from one address: they are in within a
// minute, come back after the relay was restarted, and checks of the balancer are answered
// throughout.
import { assert, assertEquals, assertLess } from "@std/assert";
import { blocksOfPage, nginxInstalled, startNginx, variablesOfPage } from "../support/balancers.ts";
import { tried } from "../support/campaign.ts";
import { ownLine, TestBalancer } from "../support/http2/balancer.ts";
import { TextLineStream } from "../support/lines.ts";
import { eventually, freePort, testWhen } from "../support/mod.ts";
import { type Stack, startStack } from "../support/stack.ts";
import type { OfficeOrder, OfficeReport } from "./office_agents.ts";

const agents = 500;
const limitMs = 60_000;
const script = new URL("office_agents.ts", import.meta.url).pathname;

/** Asks as a balancer does, on a connection of its own each time, until it is stopped. */
async function checkAgain(
  port: number,
  ca: string,
  signal: AbortSignal,
): Promise<{ asked: number; refused: string[] }> {
  const refused: string[] = [];
  let asked = 0;
  while (!signal.aborted) {
    asked++;
    using client = Deno.createHttpClient({ caCerts: [ca] });
    try {
      const answer = await fetch(`https://localhost:${port}/health`, { client });
      await answer.body?.cancel();
      if (answer.status !== 200) refused.push(String(answer.status));
    } catch (error) {
      refused.push(String(error));
    }
    // wait: the pace of the checks
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  return { asked, refused };
}

/** Resolves when so many sessions are there, with the time that it took. */
async function untilIn(stack: Stack, count: number): Promise<number> {
  const startedMs = performance.now();
  await eventually(
    { what: `${count} sessions`, withinMs: 2 * limitMs },
    async () =>
      Number(/^static_relay_sessions_authenticated (\d+)$/m.exec(await stack.relayMetrics())?.[1]),
    (sessions) => sessions === count,
  );
  return performance.now() - startedMs;
}

testWhen(
  nginxInstalled,
  `${agents} agents of one address behind nginx are in within a minute, also after a restart`,
  async () => {
    const port = freePort();
    let target = 0;
    await using stack = await startStack({
      between: ({ quicPort, grpcPort }) => {
        target = grpcPort;
        return { quicPort, grpcPort: port };
      },
      relayVariables: { STATIC_RELAY_BALANCERS: "127.0.0.1", ...variablesOfPage() },
    });
    const [, text = ""] = blocksOfPage("nginx", {
      "listen 5000;": `listen 127.0.0.1:${port};`,
      "10.0.0.5:5000": `127.0.0.1:${target}`,
    });
    await using _nginx = await startNginx({ port, text });
    await using balancer = new TestBalancer({ target, header: () => ownLine });
    const ca = await Deno.readTextFile(stack.caFile);
    const folder = await Deno.makeTempDir({ prefix: "static-office-" });
    const order: OfficeOrder = {
      agents,
      folder,
      giveUpMs: 2 * limitMs,
      options: {
        endpoint: `https://localhost:${port}`,
        apiUrl: stack.api.url,
        apiKey: stack.account.apiKey,
        tls: { caFile: stack.caFile },
        cover: "off",
      },
    };
    const watched = async <Result>(run: () => Promise<Result>): Promise<Result> => {
      const stop = new AbortController();
      const checks = checkAgain(balancer.port, ca, stop.signal);
      try {
        return await run();
      } finally {
        stop.abort();
        const { asked, refused } = await checks;
        assertEquals(refused, [], `of ${asked} checks`);
        assert(asked > 0);
      }
    };
    const office = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", "--quiet", script, JSON.stringify(order)],
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    try {
      const lines = office.stdout.pipeThrough(new TextDecoderStream()).pipeThrough(
        new TextLineStream(),
      ).getReader();
      const report: OfficeReport = await watched(async () =>
        JSON.parse((await lines.read()).value ?? "")
      );
      console.log(
        `${report.in} of ${agents} agents in after ${report.ms} ms, refused: ${
          JSON.stringify(report.refusals)
        }`,
      );
      assertEquals(report.in, agents);
      assertLess(report.ms, limitMs);
      await watched(() => untilIn(stack, agents));
      await stack.killRelay();
      await stack.startRelay();
      const backMs = await watched(() => untilIn(stack, agents));
      console.log(`back after a restart: ${Math.round(backMs)} ms`);
      assertLess(backMs, limitMs);
      tried(`${agents} agents behind nginx, twice`);
    } finally {
      await office.stdin.close();
      await office.status;
      await Deno.remove(folder, { recursive: true });
    }
  },
);
