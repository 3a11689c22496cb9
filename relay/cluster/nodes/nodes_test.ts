// Nodes that do not promise what a relay needs are refused before anything is given to them, and
// deaf ones are left.
import { assertEquals, assertNotEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { NatsConnection } from "@nats-io/nats-core";
import { inCampaign, tried } from "../../../tests/support/campaign.ts";
import { createCertificate } from "../../../tests/support/certificate.ts";
import { natsInstalled, natsProgram, startNats } from "../../../tests/support/nats.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import { freePorts } from "../../../tests/support/ports.ts";
import { type Requirement, testWhen } from "../../../tests/support/requirement.ts";
import { leastPayloadBytes, type Nodes, openNodes } from "./nodes.ts";
import { patiently } from "./retry.ts";

/** Debian's own package, where it is installed and old. */
const oldProgram = "/usr/sbin/nats-server";
const hasOld: Requirement = { met: isOld(), reason: `${oldProgram} is missing, or new enough` };

function isOld(): boolean {
  try {
    const { stdout } = new Deno.Command(oldProgram, { args: ["--version"] }).outputSync();
    return /v2\.([0-9]|1[0-4])\./.test(new TextDecoder().decode(stdout));
  } catch {
    return false;
  }
}

/** The sentence with which a node of this kind is refused. */
async function refusal(
  program: string,
  { sync, payload }: { sync: string; payload: string },
): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "static-nats-" });
  const [port, http] = freePorts(2);
  const config = `listen: "127.0.0.1:${port}"
http: "127.0.0.1:${http}"
max_payload: ${payload}
jetstream { store_dir: "${folder}/store"${sync} }
`;
  await Deno.writeTextFile(`${folder}/nats.conf`, config);
  const args = ["--config", `${folder}/nats.conf`, "--log", `${folder}/log`];
  const node = new Deno.Command(program, { args, stdin: "null", stdout: "null", stderr: "null" })
    .spawn();
  try {
    const ask = (): Promise<boolean> =>
      fetch(`http://127.0.0.1:${http}/varz`).then((r) => r.text()).then(() => true, () => false);
    await eventually({ what: "the node answers" }, ask, (isThere) => isThere);
    const options = { urls: [`nats://127.0.0.1:${port}`], isTls: false, name: "test" };
    const monitorUrls = [`http://127.0.0.1:${http}`];
    return (await assertRejects(() => openNodes({ ...options, monitorUrls }), Error)).message;
  } finally {
    node.kill("SIGKILL");
    await node.status;
    await Deno.remove(folder, { recursive: true });
  }
}

testWhen(natsInstalled, "a node that answers before its disk has an entry is refused", async () => {
  const text = await refusal(await natsProgram(), { sync: "", payload: "8MB" });
  assertStringIncludes(text, "set sync_interval to always");
});

testWhen(natsInstalled, "a node that does not take the largest entries is refused", async () => {
  const text = await refusal(await natsProgram(), {
    sync: ", sync_interval: always",
    payload: "1MB",
  });
  assertStringIncludes(text, "set max_payload to 8MB");
});

testWhen(hasOld, "a node that is too old is refused", async () => {
  assertStringIncludes(
    await refusal(oldProgram, { sync: "", payload: "8MB" }),
    "2.15 or newer is needed",
  );
});

/** A node answers on the connection again. */
async function assertAnswered(connection: NatsConnection): Promise<void> {
  let isAnswered = false;
  const ask = (): Promise<boolean> => {
    // One that is lost on the way is never answered, so each look asks anew.
    connection.flush().then(() => isAnswered = true, () => {});
    return Promise.resolve(isAnswered);
  };
  await eventually({ what: "a node answers again" }, ask, (is) => is);
}

testWhen(
  natsInstalled,
  "nodes are reached over TLS with the authority and the key that are configured, and with no other",
  async () => {
    await using nats = await startNats({ nodes: 1 });
    const { access } = nats;
    const options = {
      ...access,
      urls: access.urls.map((url) => url.replace("127.0.0.1", "localhost")),
      name: "test",
    };
    const { connection } = await openNodes(options);
    assertEquals(connection.info?.tls_required, true);
    await connection.close();
    const { cert } = await createCertificate();
    // Without the question at the monitoring ports, which are asked first and would refuse as well.
    for (const monitorUrls of [access.monitorUrls, []]) {
      await assertRejects(() => openNodes({ ...options, monitorUrls, ca: cert }), Error);
      await assertRejects(() => openNodes({ ...options, monitorUrls, ca: undefined }), Error);
    }
    await assertRejects(() => openNodes({ ...options, credentials: undefined }), Error);
  },
);

testWhen(natsInstalled, "a connection leaves its node and is made anew", async () => {
  await using nats = await startNats({ nodes: 1 });
  const { connection } = await openNodes({ ...nats.access, name: "test" });
  await connection.reconnect();
  await assertAnswered(connection);
  await connection.close();
});

testWhen(
  natsInstalled,
  "a new client takes the place of one whose node reads nothing, and what is subscribed moves along",
  async () => {
    await using nats = await startNats({ nodes: 3 });
    const nodes = await openNodes({ ...nats.access, name: "test" });
    const old = nodes.connection;
    const heard: string[] = [];
    const stop = nodes.subscribe("words", (message) => void heard.push(message.string()));
    nats.freeze(nats.access.urls.findIndex((url) => url.endsWith(old.getServer())));
    for (let count = 0; count < 8; count++) {
      old.publish("nobody", new Uint8Array(leastPayloadBytes));
    }
    await nodes.renew();
    assertNotEquals(nodes.connection.getServer(), old.getServer());
    nodes.connection.publish("words", "heard");
    await assertAnswered(nodes.connection);
    assertEquals(heard, ["heard"]);
    stop();
    nodes.connection.publish("words", "not heard");
    await assertAnswered(nodes.connection);
    assertEquals(heard, ["heard"]);
    await nodes.close();
  },
);

testWhen(
  natsInstalled,
  "a client goes only to nodes that are configured, whatever others they tell of",
  async () => {
    await using nats = await startNats({ nodes: 3, doAdvertise: true });
    const [url = ""] = nats.access.urls;
    const nodes = await openNodes({ ...nats.access, urls: [url], name: "test" });
    assertEquals(nodes.connection.info?.connect_urls?.length, 3);
    await nodes.connection.reconnect();
    await assertAnswered(nodes.connection);
    assertEquals(`tls://${nodes.connection.getServer()}`, url);
    await nodes.close();
  },
);

/**
 * A way to a node on which logins come too late while it is told so: the node says it and ends the
 * connection.
 */
class LateWay implements Disposable {
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #open = new Set<Deno.Conn>();
  readonly #nodePort: number;
  /** Logins that still come too late. */
  late = 0;

  constructor(nodePort: number) {
    this.#nodePort = nodePort;
    void this.#accept();
  }

  get url(): string {
    return `nats://127.0.0.1:${this.#listener.addr.port}`;
  }

  cut(): void {
    for (const connection of this.#open) connection.close();
    this.#open.clear();
  }

  [Symbol.dispose](): void {
    this.#listener.close();
    this.cut();
  }

  async #accept(): Promise<void> {
    for await (const near of this.#listener) {
      const far = await Deno.connect({ hostname: "127.0.0.1", port: this.#nodePort });
      this.#open.add(near).add(far);
      const done = (): void =>
        [near, far].forEach((each) => this.#open.delete(each) && each.close());
      void far.readable.pipeTo(near.writable, { preventClose: true }).then(done, done);
      if (this.late > 0) void this.#refuse(near).then(done, done);
      else void near.readable.pipeTo(far.writable, { preventClose: true }).then(done, done);
    }
  }

  /** Once the client has told who it is. */
  async #refuse(near: Deno.Conn): Promise<void> {
    await near.read(new Uint8Array(4_096));
    await near.write(new TextEncoder().encode("-ERR 'Authentication Timeout'\r\n"));
    this.late--;
  }
}

testWhen(
  natsInstalled,
  "a client whose logins come too late again and again goes on trying",
  async () => {
    await using nats = await startNats({ nodes: 1, plain: true });
    using way = new LateWay(Number(new URL(nats.access.urls[0] ?? "").port));
    const nodes = await openNodes({ ...nats.access, urls: [way.url], name: "test" });
    way.late = 3;
    way.cut();
    await eventually(
      { what: "three late logins" },
      () => Promise.resolve(way.late),
      (late) => late === 0,
    );
    await assertAnswered(nodes.connection);
    await nodes.close();
  },
);

/** The words of another connection that tries a log. */
async function probe(nodes: Nodes, name: string): Promise<string> {
  return await nodes.probe({ name, subject: name }, new Uint8Array(1)).then(
    () => "worked",
    ({ message }) => message,
  );
}

const noLeader = "its nodes have no leader for it";

testWhen(
  natsInstalled,
  "another connection writes to a log and reads it, and says why it cannot",
  async () => {
    await using nats = await startNats({ nodes: 1 });
    const nodes = await openNodes({ ...nats.access, name: "test" });
    await nodes.manager.streams.add({ name: "led", subjects: ["led"] });
    assertEquals(await probe(nodes, "led"), "worked");
    assertEquals(await probe(nodes, "unknown"), "its nodes do not tell of it");
    await nodes.manager.streams.update("led", { subjects: ["elsewhere"] });
    assertEquals(await probe(nodes, "led"), "its nodes take nobody's entries");
    nats.freeze(0);
    assertEquals(await probe(nodes, "led"), "its nodes cannot be reached");
    nats.thaw(0);
    await nodes.close();
  },
);

if (inCampaign) {
  testWhen(
    natsInstalled,
    "another connection knows that a log has lost its leader, and that it has one again",
    async () => {
      await using nats = await startNats({ nodes: 3 });
      const nodes = await openNodes({ ...nats.access, name: "test" });
      await patiently(() =>
        nodes.manager.streams.add({ name: "led", subjects: ["led"], num_replicas: 3 })
      );
      const ask = (): Promise<string> => probe(nodes, "led");
      assertEquals(await ask(), "worked");
      for (const node of [1, 2]) nats.freeze(node);
      await eventually(
        { withinMs: 120_000, what: "the leader has left" },
        ask,
        (said) => said === noLeader,
      );
      for (const node of [1, 2]) nats.thaw(node);
      await eventually(
        { withinMs: 120_000, what: "a leader is elected" },
        ask,
        (said) => said === "worked",
      );
      await nodes.close();
      tried("1 log that lost its leader");
    },
  );
}
