/**
 * A relay and two agents with the SDK in one process, talking at a steady pace. For every line on
 * its input they fall silent, until nothing is under way that would count as memory; then it
 * collects its garbage and prints how many messages were heard and how much the heap holds. Run
 * with `--v8-flags=--expose-gc`.
 */
import { grantedToken, openTestRelay } from "../../relay/testing/open_relay.ts";
import { type Channel, StaticClient } from "../../sdk/mod.ts";
import { createCertificate } from "../support/mod.ts";
import { TextLineStream } from "../support/lines.ts";

export interface HeapSample {
  readonly heard: number;
  readonly heapBytes: number;
  /** Buffers outside of the heap. */
  readonly externalBytes: number;
}

const everyMs = 5;
const name = "acme/faults/steady";

/** Messages that both agents sent and received together, and whether they may send. */
class Talk {
  heard = 0;
  #sent = 0;
  #silent = false;

  /** Talks and listens until the process ends. */
  async join(channel: Channel): Promise<void> {
    void (async () => {
      for await (const _ of channel.messages()) this.heard++;
    })();
    const payload = new Uint8Array(1024);
    for (;;) {
      await pause();
      if (this.#silent) continue;
      this.#sent++;
      await channel.send(payload);
    }
  }

  async silence(): Promise<void> {
    this.#silent = true;
    while (this.heard < this.#sent) await pause();
  }

  resume(): void {
    this.#silent = false;
  }
}

async function pause(): Promise<void> {
  // wait: the pace of the talk, and between two looks
  await new Promise((resolve) => setTimeout(resolve, everyMs));
}

function memoryAfterCollection(): Omit<HeapSample, "heard"> {
  const { gc } = globalThis as { readonly gc?: () => void };
  if (gc === undefined) throw new Error("Run with --v8-flags=--expose-gc");
  gc();
  gc();
  const { heapUsed, external } = Deno.memoryUsage();
  return { heapBytes: heapUsed, externalBytes: external };
}

async function main(folder: string): Promise<void> {
  const certificate = await createCertificate();
  const relay = await openTestRelay({ path: `${folder}/relay.db`, certificate });
  const connect = (identity: string): Promise<StaticClient> =>
    StaticClient.connect({
      endpoint: `quic://localhost:${relay.quicPort}`,
      token: () => grantedToken("00000000-0000-4000-8000-000000000001"),
      tls: { caCerts: [certificate.cert] },
      dataDir: `${folder}/${identity}`,
      identity,
    });
  const [ann, ben] = [await connect("ann"), await connect("ben")];
  const channel = await ann.createChannel(name);
  const joined = await ben.joinChannel(
    name,
    await channel.addMember(await ben.generateKeyPackage()),
  );
  const talk = new Talk();
  for (const each of [channel, joined]) void talk.join(each);
  console.log("ready");
  const lines = Deno.stdin.readable.pipeThrough(new TextDecoderStream()).pipeThrough(
    new TextLineStream(),
  );
  for await (const _ of lines) {
    await talk.silence();
    const sample: HeapSample = { heard: talk.heard, ...memoryAfterCollection() };
    console.log(JSON.stringify(sample));
    talk.resume();
  }
  Deno.exit(0);
}

await main(Deno.args[0] ?? "");
