import { ed25519 } from "@noble/curves/ed25519.js";
import { assert, assertEquals } from "@std/assert";
import {
  binaryIdToBytes,
  cellHeaderBytes,
  encodeBase64url,
  encodeMessageAad,
  limits,
  type MessageId,
  parseChannelName,
} from "../../proto/mod.ts";
import { platform } from "../../sdk/platform/deno.ts";
import {
  type CellStream,
  type Connector,
  openRelaySession,
} from "../../sdk/session/testing/mod.ts";
import { startStack } from "../support/stack.ts";
import { createPrivateMessage, eventually } from "../support/mod.ts";

interface Tally {
  streamBytes: number;
  cells: number;
  padding: number;
  cover: number;
}

/** Counts cells in a byte stream by themselves: only the length in their head is looked at. */
class CellTally {
  readonly #tally: Tally;
  #rest: Uint8Array = new Uint8Array(0);

  constructor(tally: Tally) {
    this.#tally = tally;
  }

  add(chunk: Uint8Array): void {
    this.#tally.streamBytes += chunk.length;
    let bytes = new Uint8Array([...this.#rest, ...chunk]);
    for (; bytes.length >= limits.cellBytes; bytes = bytes.subarray(limits.cellBytes)) {
      const content = (bytes[1] ?? 0) * 256 + (bytes[2] ?? 0);
      this.#tally.cells++;
      if (content === 0) this.#tally.cover += limits.cellBytes;
      else this.#tally.padding += limits.cellBytes - cellHeaderBytes - content;
    }
    this.#rest = bytes;
  }
}

/** QUIC with everything that passes counted, to the last byte that the relay sends. */
function counted(connector: Connector, tally: Tally, ended: () => void): Connector {
  return {
    transport: connector.transport,
    carrier: connector.carrier,
    unusable: connector.unusable,
    connect: async (target, signal): Promise<CellStream> => {
      const stream = await connector.connect(target, signal);
      const [up, down] = [new CellTally(tally), new CellTally(tally)];
      const arrived = new TransformStream<Uint8Array, Uint8Array>({}, {}, { highWaterMark: 1_000 });
      const [writer, reader] = [arrived.writable.getWriter(), arrived.readable.getReader()];
      const pump = async (): Promise<void> => {
        for (let chunk = await stream.read(); chunk !== undefined; chunk = await stream.read()) {
          down.add(chunk);
          await writer.write(chunk.slice());
        }
        await writer.close();
        ended();
      };
      void pump();
      return {
        ...stream,
        read: async () => (await reader.read()).value,
        write: (cells, cellBytes) => {
          up.add(cells);
          return stream.write(cells, cellBytes);
        },
      };
    },
  };
}

Deno.test("usage says to the byte what was on the wire: payload, fill of cells, cover", async () => {
  await using stack = await startStack();
  const tally: Tally = { streamBytes: 0, cells: 0, padding: 0, cover: 0 };
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const [quic] = platform.connectors;
  assert(quic !== undefined);
  const seed = crypto.getRandomValues(new Uint8Array(32));
  const session = await openRelaySession({
    endpoint: stack.quicUrl,
    tls: { caFile: stack.caFile },
    apiKey: stack.account.apiKey,
    apiUrl: stack.api.url,
    cover: { mode: "constant", intervalMs: 10 },
  }, {
    identity: Uint8Array.of(1),
    publicKey: ed25519.getPublicKey(seed),
    sign: (message) => ed25519.sign(message, seed),
  }, { ...platform, connectors: [counted(quic, tally, resolve)] });

  const name = parseChannelName("acme/traffic/usage");
  const { channelId } = await session.call("CreateChannel", { name, nonce: new Uint8Array(16) });
  let payload = 0;
  for (const bytes of [1, 100, 5_000, 4_000, 20_000]) {
    const messageId = encodeBase64url(crypto.getRandomValues(new Uint8Array(16))) as MessageId;
    const ciphertext = createPrivateMessage({
      groupId: binaryIdToBytes(channelId),
      epoch: 0,
      authenticatedData: encodeMessageAad({ messageId, counter: 1 }),
      ciphertext: new Uint8Array(bytes),
    });
    payload += ciphertext.length;
    await session.call("SendMessage", { channelId, epoch: 0, messageId, ciphertext });
  }
  // A closing connection throws away what has not arrived; behind this reply nothing is on its way.
  await session.call("ConfigureCover", { mode: "off", intervalMs: 0 });
  await session.close();
  await ended;
  stack.signalRelay("SIGTERM");
  const { json: { bytes } } = await eventually(
    { what: "the relay's last report" },
    () => stack.api.call("GET", "/v1/usage", { key: stack.account.apiKey }),
    ({ json }) => json.bytes.cover > 0,
  );
  assertEquals(bytes, { payload, padding: tally.padding, cover: tally.cover });
  assertEquals(tally.streamBytes, tally.cells * limits.cellBytes);
  assert(tally.cover > 0 && tally.padding > 0 && payload > 0);
});
