/**
 * Reads a part of a stream from the nearest node that has it. The client's own call waits five
 * seconds from its beginning, whether entries come or not, and keeps its subscription as long: here
 * the wait is for the next entry.
 */
import { createInbox, type Msg, type NatsConnection } from "@nats-io/nats-core";
import { after, waits } from "../../../server/mod.ts";

export interface PageOptions {
  readonly stream: string;
  readonly query: { readonly seq: number; readonly batch: number; readonly max_bytes: number };
  readonly onEntry: (position: number, bytes: Uint8Array) => void;
}

const endOfBatch = 204;

/** Resolves at the end of the page. Rejects when nobody has it, or the answer stops. */
export async function readPage(
  connection: NatsConnection,
  { stream, query, onEntry }: PageOptions,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  promise.catch(() => {}); // it may be over before anybody waits for it
  const expire = (): () => void =>
    after(waits.nodeAnswer.ms, () => reject(new Error(`No answer to a question for ${stream}`)));
  let cancel = (): void => {};
  const take = (message: Msg): void => {
    const code = message.headers?.code ?? 0;
    if (code === endOfBatch) return resolve();
    if (code !== 0) return reject(new Error(`${stream} cannot be read: ${code}`));
    cancel();
    cancel = expire();
    onEntry(Number(message.headers?.get("Nats-Sequence")), message.data);
  };
  const inbox = createInbox();
  const subscription = connection.subscribe(inbox, {
    callback: (error, message) => {
      if (error === null) take(message);
      else reject(error);
    },
  });
  try {
    cancel = expire();
    connection.publish(`$JS.API.DIRECT.GET.${stream}`, JSON.stringify(query), { reply: inbox });
    await promise;
  } finally {
    cancel();
    subscription.unsubscribe();
  }
}
