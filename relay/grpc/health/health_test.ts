// gRPC's own health service, as load balancers ask it; `/ready` says the same to those who speak
// HTTP.
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { assertEquals, assertRejects } from "@std/assert";
import { openTestRelay } from "../../testing/open_relay.ts";
import { Health, Status } from "./descriptors.ts";
import { createCertificate } from "../../../tests/support/mod.ts";
import { connectTransport } from "../../../tests/support/relay/deno_clients.ts";
import { startTestRelay } from "../../../tests/support/relay/test_relay.ts";

Deno.test("grpc.health.v1 and /ready say whether sessions are taken", async () => {
  await using relay = await startTestRelay();
  using http = connectTransport(relay.edge.grpcPort, relay.certificate.cert);
  const health = createClient(Health, http.transport);
  const ready = async (): Promise<[number, unknown]> => {
    const answer = await http.fetch(`https://localhost:${relay.edge.grpcPort}/ready`);
    return [answer.status, await answer.json()];
  };
  for (const service of ["", "static.relay.v1.Relay"]) {
    assertEquals((await health.check({ service })).status, Status.SERVING);
  }
  const unknown = await assertRejects(() => health.check({ service: "other" }), ConnectError);
  assertEquals(unknown.code, Code.NotFound);
  assertEquals(await ready(), [200, { status: "ok" }]);

  const watched = health.watch({})[Symbol.asyncIterator]();
  assertEquals((await watched.next()).value?.status, Status.SERVING);
  await relay.edge.drain();
  assertEquals((await watched.next()).value?.status, Status.NOT_SERVING);
  await watched.return?.();
  assertEquals((await health.check({})).status, Status.NOT_SERVING);
  assertEquals(await ready(), [503, { status: "draining" }]);
});

Deno.test("a busy relay is alive and not ready", async () => {
  const certificate = await createCertificate();
  const relay = await openTestRelay({ certificate, isBusy: () => true });
  using http = connectTransport(relay.grpcPort, certificate.cert);
  const get = async (path: string): Promise<[number, unknown]> => {
    const answer = await http.fetch(`https://localhost:${relay.grpcPort}${path}`);
    return [answer.status, await answer.json()];
  };
  assertEquals(await get("/health"), [200, { status: "ok" }]);
  assertEquals(await get("/ready"), [503, { status: "not_ready", reason: "busy" }]);
  await relay.close();
});

Deno.test("/health names each problem, and /ready the first for which sessions should go elsewhere", async () => {
  const certificate = await createCertificate();
  const problems = [
    { what: "api", text: "The API is silent.", isUnready: false },
    { what: "disk", text: "The disk is silent.", isUnready: true },
  ];
  const shown = [...problems];
  const relay = await openTestRelay({ certificate, problems: () => shown });
  using http = connectTransport(relay.grpcPort, certificate.cert);
  const get = async (path: string): Promise<[number, unknown]> => {
    const answer = await http.fetch(`https://localhost:${relay.grpcPort}${path}`);
    return [answer.status, await answer.json()];
  };
  const texts = problems.map(({ text }) => text);
  assertEquals(await get("/health"), [200, { status: "degraded", problems: texts }]);
  assertEquals(await get("/ready"), [503, { status: "not_ready", reason: "The disk is silent." }]);
  const health = createClient(Health, http.transport);
  assertEquals((await health.check({})).status, Status.NOT_SERVING);
  shown.pop();
  assertEquals(await get("/ready"), [200, { status: "ok" }]);
  assertEquals((await health.check({})).status, Status.SERVING);
  await relay.close();
});
