// h2load, from one client with one stream to a hundred with a hundred, GET and POST: not one error,
// with freed memory overwritten and without.
import { assertEquals, assertMatch } from "@std/assert";
import { tried } from "../support/campaign.ts";
import { installed, runCommand, testWhen } from "../support/mod.ts";
import { perturbed, ServerProcess } from "../support/http2/server_process.ts";

const h2load = installed("h2load");
const totalRequests = 200_000;
const grid = [1, 4, 100].flatMap((clients) =>
  [1, 10, 100].map((streams) => ({ clients, streams }))
);

const requests = totalRequests.toLocaleString("en");

async function load(env: Record<string, string>): Promise<void> {
  await using server = await ServerProcess.start({ env });
  const upload = await Deno.makeTempFile();
  await Deno.writeFile(upload, new Uint8Array(4_096));
  // Nine loads, twice; a little more for each so that their sum is not below the promise.
  const requestsEach = Math.ceil(totalRequests / (grid.length * 2));
  for (const post of [false, true]) {
    for (const { clients, streams } of grid) {
      const target = post ? ["-d", upload, `${server.origin}/sink`] : [`${server.origin}/health`];
      const args = [
        "-n",
        String(requestsEach),
        "-c",
        String(clients),
        "-m",
        String(streams),
        ...target,
      ];
      const output = await runCommand("h2load", args);
      const what = `${post ? "POST" : "GET"}, ${clients} clients, ${streams} streams: ${output}`;
      assertMatch(
        output,
        new RegExp(`${requestsEach} succeeded, 0 failed, 0 errored, 0 timeout`),
        what,
      );
      assertMatch(output, /TLS Protocol: TLSv1.3/, what);
    }
  }
  await Deno.remove(upload);
  const { streams, faults } = await server.until(({ sockets }) => sockets === 0, "without sockets");
  assertEquals([streams, faults], [0, []]);
  tried(`${requests} requests of h2load`);
}

testWhen(
  h2load,
  `h2load sends ${requests} requests without an error, freed memory overwritten`,
  () => load(perturbed),
);
testWhen(h2load, `h2load sends ${requests} requests without an error`, () => load({}));
