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

/** Resolves with the parts of another relay's state; undefined when nobody answers. */
export async function askForState(
  connection: NatsConnection,
  { prefix, relay }: StateExchange,
): Promise<readonly Uint8Array[] | undefined> {
  const inbox = createInbox();
  const { promise, resolve } = Promise.withResolvers<readonly Uint8Array[] | undefined>();
  const answers = new Map<string, Uint8Array[]>();
  let cancel = after(answerMs, () => resolve(undefined));
  const take = (message: Msg): void => {
    if (message.headers?.code === nobodyListens) return resolve(undefined);
    const from = message.headers?.get("Relay") ?? "";
    const count = Number(message.headers?.get("Parts") ?? 0);
    const parts = answers.get(from) ?? [];
    if (answers.size === 0) {
      cancel();
      cancel = after(wholeMs, () => resolve(undefined));
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
