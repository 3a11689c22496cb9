// The relay's view of content: the cells that really leave and arrive, for bytes, JSON, requests
// and replies of one length.
import { assert, assertEquals } from "@std/assert";
import { CellReader, decodeClientEnvelope, decodeRelayEnvelope, limits } from "../../proto/mod.ts";
import { type CellTap, type ConnectOptions, StaticClient } from "../../sdk/mod.ts";
import { inCampaign } from "../support/campaign.ts";
import { shareStack } from "../support/shared_stack.ts";

type Direction = Parameters<CellTap>[2];

/** One way of one agent's connection, read as the relay does. */
class Way {
  /** Of each message, how many cells it took and how long its ciphertext is. */
  readonly messages: { readonly cells: number; readonly ciphertextBytes: number }[] = [];
  readonly #reader = new CellReader({
    cellBytes: limits.cellBytes,
    maxEnvelopeBytes: limits.envelopeBytes,
  });
  readonly #ciphertextOf: (envelope: Uint8Array) => number | undefined;
  /** The cell that is arriving. */
  readonly #cell = new Uint8Array(limits.cellBytes);
  #filled = 0;
  /** With data, since the last thing that was said with data. */
  #cells = 0;

  constructor(direction: Direction) {
    this.#ciphertextOf = direction === "sent" ? sentCiphertext : deliveredCiphertext;
  }

  read(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) {
      const part = bytes.subarray(at, at + limits.cellBytes - this.#filled);
      this.#cell.set(part, this.#filled);
      at += part.length;
      this.#filled = (this.#filled + part.length) % limits.cellBytes;
      if (this.#filled === 0) this.#readCell();
    }
  }

  #readCell(): void {
    const [lane, high, low] = this.#cell;
    if (lane === 1 && (high !== 0 || low !== 0)) this.#cells++;
    this.#reader.read(this.#cell, (envelope, lane) => {
      if (lane !== "data") return;
      const ciphertextBytes = this.#ciphertextOf(envelope);
      if (ciphertextBytes !== undefined) {
        this.messages.push({ cells: this.#cells, ciphertextBytes });
      }
      this.#cells = 0;
    });
  }
}

function sentCiphertext(bytes: Uint8Array): number | undefined {
  const envelope = decodeClientEnvelope(bytes);
  return envelope.operation === "SendMessage" ? envelope.body.ciphertext.length : undefined;
}

function deliveredCiphertext(bytes: Uint8Array): number | undefined {
  const envelope = decodeRelayEnvelope(bytes);
  return envelope.kind === "notice" && envelope.operation === "DeliverMessage"
    ? envelope.body.ciphertext.length
    : undefined;
}

/**
 * Within a cell, at its end, where a request's own fields would not fit beside so many bytes, and
 * over several cells.
 */
const lengths = [2, 1000, 3500, 3600, 3650, 3700, 3750, 3800, 3850, 4000, 20_000, 100_000];

interface Watched {
  readonly client: StaticClient;
  readonly sent: Way;
  readonly received: Way;
}

async function connect(options: ConnectOptions): Promise<Watched> {
  const [sent, received] = [new Way("sent"), new Way("received")];
  const tap: CellTap = (bytes, cellBytes, direction) => {
    assertEquals(cellBytes, limits.cellBytes);
    (direction === "sent" ? sent : received).read(bytes);
  };
  return { client: await StaticClient.connect({ ...options, tap }), sent, received };
}

Deno.test("bytes, JSON, requests and replies of one length are cells of one number and size on the wire", async (t) => {
  const stack = await shareStack();
  const folder = await Deno.makeTempDir({ prefix: "static-wire-" });
  // The cells are made before a transport has them, so one shows it; the campaign has both.
  for (const transport of inCampaign ? ["quic", "grpc"] as const : ["quic"] as const) {
    const optionsOf = (identity: string): ConnectOptions => ({
      endpoint: transport === "quic" ? stack.quicUrl : stack.grpcUrl,
      transport,
      apiKey: stack.account.apiKey,
      apiUrl: stack.api.url,
      tls: { caFile: stack.caFile },
      cover: { mode: "off" },
      dataDir: `${folder}/${transport}/${identity}`,
      identity,
    });
    await t.step(`over ${transport}`, async () => {
      const [alice, bob] = [await connect(optionsOf("alice")), await connect(optionsOf("bob"))];
      await compareAll(alice, bob, `acme/wire/${transport}`);
      await alice.client.close();
      await bob.client.close();
    });
  }
  await Deno.remove(folder, { recursive: true });
});

async function compareAll(alice: Watched, bob: Watched, name: string): Promise<void> {
  const asking = await alice.client.createChannel(name);
  const welcome = await asking.addMember(await bob.client.generateKeyPackage());
  const serving = await bob.client.joinChannel(name, welcome);
  serving.serve((request) =>
    request.contentType === undefined ? request.bytes : { json: request.json() }
  );
  const to = bob.client.agentId;
  const ways = [alice.sent, alice.received, bob.sent, bob.received];
  for (const length of lengths) {
    for (const { messages } of ways) messages.length = 0;
    for (const value of [new Uint8Array(length), { json: "x".repeat(length - 2) }]) {
      await asking.send(value);
      await serving.receive();
      await asking.request(value, { to });
    }
    assertEquals(ways.map(({ messages }) => messages.length), [4, 2, 2, 4]);
    const seen = ways.flatMap(({ messages }) => messages);
    const kinds = new Set(
      seen.map(({ cells, ciphertextBytes }) => `${cells} cells, ${ciphertextBytes} bytes`),
    );
    assertEquals(kinds.size, 1, `${length} bytes: ${[...kinds].join("; ")}`);
  }
  assert((alice.sent.messages[0]?.cells ?? 0) > 20, "the longest takes many cells");
}
