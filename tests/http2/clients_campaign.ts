// Real gRPC clients against the server, each through the same list of checks. Freed memory is
// overwritten in the server's process, so that a use of it would show.
import { assertEquals } from "@std/assert";
import { tried } from "../support/campaign.ts";
import { runCommand, testWhen } from "../support/mod.ts";
import { installNodePeers, node } from "../support/http2/node_peers.ts";
import { perturbed, ServerProcess } from "../support/http2/server_process.ts";

/** Debian's interpreter: the packages of other ones are not Debian's. */
const python = "/usr/bin/python3";
const grpcio = {
  met: await new Deno.Command(python, { args: ["-c", "import grpc"], stderr: "null" }).output()
    .then(({ success }) => success, () => false),
  reason: "python3-grpcio is not installed",
};

/** The reports of a client script: one line of JSON for each check. */
function verify(client: string, output: string, leastChecks: number): void {
  const reports = output.trim().split("\n").map((line) => JSON.parse(line));
  assertEquals(reports.filter(({ ok }) => !ok), []);
  assertEquals(reports.length >= leastChecks, true, `only ${reports.length} checks were run`);
  tried(`${reports.length} checks by ${client}`);
}

testWhen(node, "grpc-js passes every check", async () => {
  const folder = await installNodePeers();
  await using server = await ServerProcess.start({ env: perturbed });
  const args = ["client_grpc_js.mjs", String(server.port), server.certFile];
  verify("grpc-js", await runCommand("node", args, { cwd: folder }), 18);
  assertEquals(
    (await server.until(({ connections }) => connections === 0, "disconnected")).streams,
    0,
  );
});

for (const protocol of ["grpc", "grpc-web", "connect"]) {
  testWhen(node, `connect-node passes every check by ${protocol}`, async () => {
    const folder = await installNodePeers();
    await using server = await ServerProcess.start({ env: perturbed });
    const args = ["client_connect.mjs", String(server.port), server.certFile, protocol];
    verify(`connect-node by ${protocol}`, await runCommand("node", args, { cwd: folder }), 18);
    assertEquals(
      (await server.until(({ connections }) => connections === 0, "disconnected")).streams,
      0,
    );
  });
}

testWhen(grpcio, "python3-grpcio passes every check", async () => {
  const script = new URL("../support/http2/peers/client_grpcio.py", import.meta.url).pathname;
  await using server = await ServerProcess.start({ env: perturbed });
  verify("grpcio", await runCommand(python, [script, String(server.port), server.certFile]), 11);
  assertEquals(
    (await server.until(({ connections }) => connections === 0, "disconnected")).streams,
    0,
  );
});
