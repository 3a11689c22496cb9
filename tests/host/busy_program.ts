/**
 * One of many programs on one agent, in a process of its own that is killed at any time. It writes
 * each step before the next one happens, so that an auditor knows what it has seen and what it was
 * told.
 */
import { connectHost, hostPlatform } from "../../sdk/testing/host.ts";
import type { Channel, ConnectOptions } from "../../sdk/mod.ts";

const burst = 12;

export interface Role {
  readonly options: ConnectOptions;
  readonly channel: string;
  readonly kind:
    | "listen"
    | "manual"
    | "receive"
    | "send"
    | "burst"
    | "ask"
    | "serve"
    | "on-message";
  /** The durable reader, or what stands before each message. */
  readonly name: string;
  /** The first number of a sender's messages: above those of its earlier lives. */
  readonly from: number;
  /** Whom to ask. */
  readonly to: string;
}

export type Step =
  | { readonly step: "seen" | "sent" | "begun"; readonly text: string }
  | { readonly step: "ready" }
  | { readonly step: "failed"; readonly text: string };

function write(step: Step): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${JSON.stringify(step)}\n`));
}

async function main({ options, channel: name, kind, name: own, from, to }: Role): Promise<void> {
  const client = await connectHost(options, hostPlatform);
  const channel = await client.enter("open", { channel: name });
  write({ step: "ready" });
  if (kind === "serve") return await channel.serve((request) => `served ${request.text()}`).ended;
  if (kind === "listen") {
    for await (const envelope of channel.envelopes({ as: own })) {
      write({ step: "seen", text: envelope.text() });
    }
  }
  if (kind === "manual") {
    for await (const envelope of channel.envelopes({ as: own, ack: "manual" })) {
      write({ step: "seen", text: envelope.text() });
      await envelope.ack();
    }
  }
  if (kind === "receive") {
    for (;;) write({ step: "seen", text: (await channel.receiveEnvelope())?.text() ?? "none" });
  }
  if (kind === "burst") await sendBursts(channel, own, from);
  for (let number = from;; number++) {
    const text = `${own} ${number}`;
    write({ step: "begun", text });
    try {
      if (kind === "send") await channel.send(text);
      else await channel.request(text, { to, timeoutMs: 60_000, key: text });
      write({ step: "sent", text });
    } catch (error) {
      write({ step: "failed", text: `${text}: ${error}` });
    }
    // wait: a program that does something else meanwhile
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Several at once, which go as one. */
async function sendBursts(channel: Channel, own: string, from: number): Promise<never> {
  for (let first = from;; first += burst) {
    await Promise.all(Array.from({ length: burst }, async (_, i) => {
      const text = `${own} ${first + i}`;
      write({ step: "begun", text });
      await channel.send(text).then(
        () => write({ step: "sent", text }),
        (error) => write({ step: "failed", text: `${text}: ${error}` }),
      );
    }));
    // wait: a program that does something else meanwhile
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
}

if (import.meta.main) await main(JSON.parse(Deno.args[0] ?? ""));
