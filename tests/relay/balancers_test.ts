// docs/deploy.md, followed with Debian's nginx and haproxy before a relay's process:
// agents that share an address log in through them, and checks of the balancers are answered.
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  blocksOfPage,
  checksOfHaproxy,
  haproxyInstalled,
  httpBlock,
  nginxInstalled,
  startHaproxy,
  startNginx,
} from "../support/balancers.ts";
import { createCertificate, eventually, freePort, testWhen } from "../support/mod.ts";
import { TestAgent } from "../support/relay/agent.ts";
import { connectTransport } from "../support/relay/deno_clients.ts";
import { startKeyServer } from "../support/relay/key_server.ts";
import { type RelayProcess, startRelayProcess } from "../support/relay/process.ts";
import { TypedClient } from "../support/relay/typed_client.ts";

interface Office extends AsyncDisposable {
  readonly relay: RelayProcess;
  readonly grpcPort: number;
  readonly ca: string;
  /** One more agent of an address that all share, on a connection of its own, through this port. */
  logIn(port: number): Promise<void>;
}

/** The port of the balancer is the one that agents dial. */
async function openOffice(port: number): Promise<Office> {
  await using opened = new AsyncDisposableStack();
  const dataDir = await Deno.makeTempDir({ prefix: "static-office-" });
  opened.defer(() => Deno.remove(dataDir, { recursive: true }));
  const keys = opened.use(await startKeyServer());
  const origin = `https://localhost:${port}`;
  const relay = opened.use(
    await startRelayProcess({
      STATIC_DATA_DIR: dataDir,
      STATIC_API_URL: keys.url,
      STATIC_API_INTERNAL_URL: keys.url,
      STATIC_RELAY_ORIGINS: origin,
      STATIC_RELAY_BALANCERS: "127.0.0.1",
      STATIC_RELAY_SOCKETS_PER_ADDRESS: "3",
    }),
  );
  const ca = await Deno.readTextFile(relay.caFile);
  const agents = opened.use(new DisposableStack());
  const logIn = async (through: number): Promise<void> => {
    const { transport } = agents.use(connectTransport(through, ca));
    const open = (): Promise<TypedClient> => Promise.resolve(new TypedClient(transport));
    const agent = new TestAgent({ open, origin }, await open(), crypto.randomUUID());
    await agent.authenticate(agent.client, await keys.sign(agent.account));
  };
  const running = opened.move();
  const grpcPort = Number(new URL(relay.grpcUrl).port);
  return { relay, grpcPort, ca, logIn, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** Status of a `GET` without a header, by TLS or not. */
async function statusOf(url: string, ca?: string): Promise<number> {
  using client = Deno.createHttpClient(ca === undefined ? {} : { caCerts: [ca] });
  const answer = await fetch(url, { client });
  await answer.body?.cancel();
  return answer.status;
}

testWhen(
  nginxInstalled,
  "behind the page's nginx more agents of one address are in than it has places",
  async () => {
    const port = freePort();
    await using office = await openOffice(port);
    const [, stream = ""] = blocksOfPage("nginx", {
      "listen 5000;": `listen 127.0.0.1:${port};`,
      "10.0.0.5:5000": `127.0.0.1:${office.grpcPort}`,
    });
    await using _nginx = await startNginx({ port, text: stream });
    for (let agent = 0; agent < 8; agent++) await office.logIn(port);
    assert((await office.relay.metrics()).includes("\nstatic_relay_sessions_authenticated 8\n"));
    assertEquals(await statusOf(`https://localhost:${port}/health`, office.ca), 200);
    // Without the header a balancer is not heard on the TCP port; the admin port answers it.
    await assertRejects(
      () => statusOf(`https://127.0.0.1:${office.grpcPort}/ready`, office.ca),
      TypeError,
    );
    assertEquals(await statusOf(`${office.relay.adminUrl}/ready`), 200);
    assertEquals(await statusOf(`${office.relay.adminUrl}/health`), 200);
  },
);

testWhen(
  haproxyInstalled,
  "behind the page's haproxy agents log in, and its own checks are answered",
  async () => {
    const port = freePort();
    await using office = await openOffice(port);
    const [text = ""] = blocksOfPage("haproxy", {
      "bind :5000": `bind 127.0.0.1:${port}`,
      "10.0.0.5:5000": `127.0.0.1:${office.grpcPort}`,
      "/etc/static/tls/ca.pem": office.relay.caFile,
      " check check-ssl": " check inter 1s check-ssl",
    });
    await using haproxy = await startHaproxy({ port, text });
    // A relay that has just started may answer the first check too late.
    await eventually(
      { what: "a check that was answered" },
      () => checksOfHaproxy(haproxy),
      (checks) => checks === "UP L7OK 200",
    );
    for (let agent = 0; agent < 5; agent++) await office.logIn(port);
  },
);

testWhen(
  nginxInstalled,
  "the page's nginx before the API sets the header that the API reads, whatever a client wrote",
  async () => {
    const seen: (string | null)[][] = [];
    await using api = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      ({ headers }) => {
        seen.push(["x-forwarded-for", "forwarded"].map((name) => headers.get(name)));
        return new Response("ok");
      },
    );
    const folder = await Deno.makeTempDir({ prefix: "static-edge-" });
    const [port, certificate] = [freePort(), await createCertificate()];
    for (const name of ["cert", "key"] as const) {
      await Deno.writeTextFile(`${folder}/${name}.pem`, certificate[name]);
    }
    const [server = ""] = blocksOfPage("nginx", {
      "listen 443 ssl;": `listen 127.0.0.1:${port} ssl;`,
      "/etc/static/tls": folder,
      "http://127.0.0.1:8080": `http://127.0.0.1:${api.addr.port}`,
    });
    await using _nginx = await startNginx({ port, text: httpBlock(server) });
    using client = Deno.createHttpClient({ caCerts: [certificate.cert] });
    const claimed = { "x-forwarded-for": "203.0.113.9", forwarded: "for=203.0.113.9" };
    const answer = await fetch(`https://localhost:${port}/`, { client, headers: claimed });
    assertEquals(await answer.text(), "ok");
    assertEquals(seen, [["127.0.0.1", "for=203.0.113.9"]]);
    await Deno.remove(folder, { recursive: true });
  },
);
