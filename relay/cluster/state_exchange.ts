/** How a relay that begins gets what the others have in memory only: it asks, and takes the first whole answer. */
import { createInbox, headers, type Msg, type NatsConnection } from "@nats-io/nats-core";
import { after } from "../../server/mod.ts";

export interface StateExchange {
  readonly prefix: string;
  readonly relay: string;
}

/** The status of an answer by the nodes themselves. */
const nobodyListens = 503;
const answerMs = 1_500;
/** Once an answer has begun. */
const wholeMs = 20_000;
/** A relay that begins without the others' state makes all of them begin anew, so it asks for long. */
const patienceMs = 15_000;

/** Resolves with the parts of another relay's state; undefined when there is no other relay, or none that answers. */
export async function askForState(
  connection: NatsConnection,
  exchange: StateExchange,
): Promise<readonly Uint8Array[] | undefined> {
  const deadlineMs = performance.now() + patienceMs;
  for (;;) {
    const answer = await askOnce(connection, exchange);
    if (answer === "nobody") return undefined;
    if (answer !== "silence") return answer;
    // Somebody listens, and has much else to do, or is frozen.
    if (performance.now() > deadlineMs) return undefined;
  }
}

async function askOnce(
  connection: NatsConnection,
  { prefix, relay }: StateExchange,
): Promise<readonly Uint8Array[] | "nobody" | "silence"> {
  const inbox = createInbox();
  const { promise, resolve } = Promise.withResolvers<readonly Uint8Array[] | "nobody" | "silence">();
  const answers = new Map<string, Uint8Array[]>();
  let cancel = after(answerMs, () => resolve("silence"));
  const take = (message: Msg): void => {
    if (message.headers?.code === nobodyListens) return resolve("nobody");
    const from = message.headers?.get("Relay") ?? "";
    const count = Number(message.headers?.get("Parts") ?? 0);
    const parts = answers.get(from) ?? [];
    if (answers.size === 0) {
      cancel();
      cancel = after(wholeMs, () => resolve("silence"));
    }
    answers.set(from, parts);
    if (parts.push(message.data) === count) resolve(parts);
  };
  const subscription = connection.subscribe(inbox, {
    callback: (error, message) => {
      if (error === null) take(message);
    },
  });
  try {
    connection.publish(`${prefix}.state`, relay, { reply: inbox });
    return await promise;
  } finally {
    cancel();
    subscription.unsubscribe();
  }
}

/** Serves the state to other relays that ask for it; returns a function to stop. */
export function serveState(
  connection: NatsConnection,
  { prefix, relay, dump }: StateExchange & { readonly dump: () => readonly Uint8Array[] },
): () => void {
  const subscription = connection.subscribe(`${prefix}.state`, {
    callback: (error, message) => {
      if (error !== null || message.string() === relay || message.reply === undefined) return;
      const parts = dump();
      for (const part of parts) {
        const head = headers();
        head.set("Relay", relay);
        head.set("Parts", String(parts.length));
        connection.publish(message.reply, part, { headers: head });
      }
    },
  });
  return () => subscription.unsubscribe();
}
