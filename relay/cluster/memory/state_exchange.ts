/**
 * How a relay that begins gets what the others have in memory only. It asks, the others offer, and
 * it takes the first offer. The state comes in parts, and the relay that begins confirms them: a
 * node drops a client to which more is sent than it reads.
 */
import {
  createInbox,
  headers,
  type Msg,
  type MsgHdrs,
  type NatsConnection,
} from "@nats-io/nats-core";
import { after, soon, waits } from "../../../server/mod.ts";
import type { Nodes } from "../nodes/nodes.ts";
import { isUnanswered } from "../nodes/retry.ts";

export interface StateExchange {
  readonly prefix: string;
  readonly relay: string;
}

/** The status of an answer by the nodes themselves. */
const nobodyListens = 503;
/** Sent before a part is confirmed. */
const bytesAtOnce = 8 * 1024 * 1024;
/** Prepared before others get their turn: a few milliseconds. */
const bytesPerTurn = 1024 * 1024;
const goOn = "more";
/**
 * So many answers may stop in the middle before it is given up: their relay or its node went away.
 */
const brokenAnswers = 3;

/**
 * `silence`: somebody listens and has much else to do, or is frozen. `broken`: an answer stopped in
 * the middle.
 */
type ExchangeFailure = "nobody" | "silence" | "broken";

export interface StateRequest extends StateExchange {
  /** For tests: how long the next part of an answer may take. */
  readonly partMs?: number;
}

/**
 * Resolves with the parts of another relay's state; undefined when there is no other relay, or none
 * that answers.
 */
export async function askForState(
  connection: NatsConnection,
  asking: StateRequest,
): Promise<readonly Uint8Array[] | undefined> {
  let deadlineMs = performance.now() + waits.stateAll.ms;
  for (let broken = 0;;) {
    const answer = await askOnce(connection, asking);
    if (answer === "nobody") return undefined;
    if (typeof answer !== "string") return answer;
    // A relay that answers exists, so it is worth the time.
    if (answer === "broken" && ++broken < brokenAnswers) {
      deadlineMs = performance.now() + waits.stateAll.ms;
    }
    if (performance.now() > deadlineMs || broken === brokenAnswers) return undefined;
  }
}

async function askOnce(
  connection: NatsConnection,
  { prefix, relay, partMs = waits.statePart.ms }: StateRequest,
): Promise<readonly Uint8Array[] | ExchangeFailure> {
  const inbox = createInbox();
  const { promise, resolve } = Promise.withResolvers<readonly Uint8Array[] | ExchangeFailure>();
  const parts: Uint8Array[] = [];
  let chosen: string | undefined;
  let cancel = after(waits.stateOffer.ms, () => resolve("silence"));
  const take = (message: Msg): void => {
    if (message.headers?.code === nobodyListens) return resolve("nobody");
    const from = message.headers?.get("Relay") ?? "";
    chosen ??= from;
    if (message.reply) message.respond(from === chosen ? goOn : "no");
    if (from !== chosen) return;
    cancel();
    cancel = after(partMs, () => resolve("broken"));
    const count = Number(message.headers?.get("Parts") ?? 0);
    if (count > 0 && parts.push(message.data) === count) resolve(parts);
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

/** A state in parts that fit a message; an array of them is one, too. */
export interface StateParts extends Iterable<Uint8Array> {
  /** How many there are. */
  readonly length: number;
}

export interface StateProvider extends StateExchange {
  readonly dump: () => StateParts;
  readonly report: (error: unknown) => void;
}

/** Serves the state to other relays that ask for it; returns a function to stop. */
export function serveState(
  nodes: Nodes,
  { prefix, relay, dump, report }: StateProvider,
): () => void {
  return nodes.subscribe(`${prefix}.state`, (message) => {
    if (message.string() === relay || !message.reply) return;
    // An exception here would end the reading of the whole connection.
    answer(nodes.connection, { reply: message.reply, relay, dump }).catch((error: unknown) => {
      // The relay that asked has gone, or has another answer.
      if (!isUnanswered(error)) report(error);
    });
  });
}

interface StateAnswer extends Pick<StateProvider, "relay" | "dump"> {
  readonly reply: string;
}

async function answer(
  connection: NatsConnection,
  { reply, relay, dump }: StateAnswer,
): Promise<void> {
  const head = (count: number): MsgHdrs => {
    const fields = headers();
    fields.set("Relay", relay);
    if (count > 0) fields.set("Parts", String(count));
    return fields;
  };
  const confirmed = async (part: Uint8Array, count: number): Promise<boolean> => {
    const answer = await connection.request(reply, part, {
      headers: head(count),
      timeout: waits.statePart.ms,
    });
    return answer.string() === goOn;
  };
  if (!await confirmed(new Uint8Array(0), 0)) return;
  // Not before it is wanted, and not all at once: a large state takes its relay seconds, and others
  // wait to be served.
  const parts = dump();
  let [bytes, turnBytes] = [0, 0];
  for (const part of parts) {
    bytes += part.length;
    turnBytes += part.length;
    if (bytes < bytesAtOnce) {
      connection.publish(reply, part, { headers: head(parts.length) });
    } else {
      bytes = 0;
      if (!await confirmed(part, parts.length)) return;
    }
    if (turnBytes < bytesPerTurn) continue;
    turnBytes = 0;
    await new Promise<void>(soon);
  }
}
