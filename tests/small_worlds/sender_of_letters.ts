/**
 * An agent that sends letters, with the real machine of its outbox, and a relay that takes them in
 * the order in which they come.
 */
import type { MessageId } from "../../proto/mod.ts";
import {
  allMessages,
  type Bundle,
  type CounterRecord,
  needsReservation,
  type OutboxEffect,
  type OutboxEvent,
  type OutboxFacts,
  type OutboxState,
  type OutboxStep,
  type OutgoingMessage,
  type Rejection,
  reserveFor,
  restoreOutbox,
  type SealedBundle,
  type SendGroup,
  stepOutbox,
} from "../../sdk/channel/testing/messages.ts";

/** On disk: counters, and how many keys of the epoch may have been used. */
interface Disk {
  readonly counters: CounterRecord;
  readonly keys: number;
}

export interface Sender {
  outbox: OutboxState<string>;
  disk: Disk;
  epoch: number;
  usedKeys: number;
  run: number;
  isUp: boolean;
  /** Of processes: none sends what another one was given. */
  process: number;
  /** Of memberships. */
  membership: number;
}

/** A message or a bundle on its way, or in the log. */
export interface Sent {
  readonly id: string;
  readonly letters: readonly string[];
  readonly counter: number;
  readonly gone: SealedGone;
  readonly epoch: number;
  readonly membership: number;
}

type SealedGone = { readonly first: number; readonly count: number } | undefined;

export interface Call {
  readonly call: number;
  /** Without one the relay is asked whether the id stands in the log. */
  readonly sent: Sent | undefined;
  readonly id: string;
  readonly run: number;
  reply: Reply | undefined;
}

export type Reply =
  | { readonly taken: "new" | "duplicate" }
  | { readonly refused: string; readonly epoch?: number };

export interface Relay {
  readonly log: readonly Sent[];
  readonly epoch: number;
  /** Nothing of this run, or of one before it, is taken. */
  readonly refused: { readonly run: number; readonly code: string } | undefined;
}

export interface SendingState {
  relay: Relay;
  sender: Sender;
  calls: Call[];
  /** Of connections that are over: the relay may take them yet. */
  late: readonly Sent[];
  /** The last word to the caller of each letter. */
  readonly told: Record<string, string>;
  /** Given to a second process: behind what it was given first. */
  readonly again: string[];
  /** Content by key, and by counter. */
  readonly keys: Record<string, string>;
  readonly counters: Record<string, string>;
  bundles: number;
  fault: string | undefined;
}

type Step = (
  state: OutboxState<string>,
  event: OutboxEvent<string>,
  facts: OutboxFacts,
) => OutboxStep<string>;

export interface SendingRules {
  readonly step: Step;
  readonly mayBundle: boolean;
  /** Keys and counters are on disk before a message that is sealed with them leaves. */
  readonly diskBeforeDeed: boolean;
}

export const sendingRules: SendingRules = {
  step: stepOutbox,
  mayBundle: true,
  diskBeforeDeed: true,
};

export const noneLate: readonly Sent[] = Object.freeze([]);
const reservedKeys = 2;
// cast: no step looks inside a permit
const permit = Object.freeze({}) as NonNullable<OutboxFacts["work"]>;
const noBytes = Object.freeze(new Uint8Array(0).subarray());

export function newSender(): Sender {
  const counters = Object.freeze({ reserved: 0, known: 0 });
  return {
    outbox: restoreOutbox(counters),
    disk: Object.freeze({ counters, keys: 0 }),
    epoch: 1,
    usedKeys: 0,
    run: 1,
    isUp: false,
    process: 1,
    membership: 1,
  };
}

export interface Letter {
  readonly letter: string;
  readonly isQueued?: boolean;
  /** Its id is the caller's: an earlier process may have sent it. */
  readonly isKnown?: boolean;
  readonly group?: SendGroup | undefined;
}

/** One event of the world under way. */
export class Sending {
  readonly #world: SendingState;
  readonly #rules: SendingRules;

  constructor(world: SendingState, rules: SendingRules) {
    this.#world = world;
    this.#rules = rules;
  }

  get #facts(): OutboxFacts {
    const world = this.#world;
    const { isUp, epoch } = world.sender;
    return {
      work: isUp ? permit : undefined,
      epoch,
      mayPost: true,
      mayBundle: this.#rules.mayBundle,
      doAllReadBundles: this.#rules.mayBundle,
      nowMs: 0,
      newId: () => idOf(`bundle ${++world.bundles}`),
      jitter: (ms) => ms,
    };
  }

  push(event: OutboxEvent<string>): void {
    const { sender } = this.#world;
    const { write, effects } = this.#rules.step(sender.outbox, event, this.#facts);
    if (write !== undefined) this.#write(write);
    for (const effect of effects) this.#perform(effect);
  }

  #write(counters: CounterRecord): void {
    const { sender } = this.#world;
    sender.disk = Object.freeze({ ...sender.disk, counters: Object.freeze(counters) });
  }

  send({ letter, isQueued = false, isKnown = false, group }: Letter): void {
    const { process } = this.#world.sender;
    const message: OutgoingMessage<string> = {
      order: Number(letter.slice(1)) + process * 100,
      id: idOf(letter),
      given: letter,
      bytes: 1,
      slackBytes: 0,
      untilMs: isQueued ? Infinity : 30_000,
      group,
      mayBeKnown: isKnown || group !== undefined,
      goes: group === undefined ? isKnown ? "alone" : "freely" : group.isAgain ? "again" : "whole",
      caller: "waits",
    };
    if (letter in this.#world.told) this.#world.again.push(letter);
    this.#world.told[letter] = "waits";
    this.push({ type: "send", message });
  }

  #perform(effect: OutboxEffect<string>): void {
    const { sender, calls } = this.#world;
    switch (effect.type) {
      case "gather":
      case "seal":
      case "wake":
      case "settle":
        return;
      case "note":
        return this.#write(effect.record);
      case "ask":
        return void calls.push({
          call: effect.call,
          sent: undefined,
          id: effect.id,
          run: 0,
          reply: undefined,
        });
      case "send": {
        const sent = sentOf(effect.bundle, effect.sealed, sender.membership);
        this.#use(effect.bundle, sent);
        return void calls.push({
          call: effect.call,
          sent,
          id: sent.id,
          run: sender.run,
          reply: undefined,
        });
      }
      case "begin_run":
        return void sender.run++;
      case "accepted":
        for (const { given, caller } of effect.messages) {
          if (caller !== "gone") this.#tell(given, "accepted");
        }
        return;
      case "queued":
        return this.#tell(effect.message.given, "queued");
      case "rejected":
        return this.#tell(effect.message.given, wordOf(effect.why));
      case "undelivered":
        return;
      case "false_duplicate":
        this.#world.fault ??= "an honest relay is reported";
    }
  }

  #tell(letter: string, what: string): void {
    const world = this.#world;
    const before = world.told[letter];
    const isFirst = before === "waits" || (before === "queued" && what === "accepted");
    if (!isFirst) world.fault ??= `S6: a caller is told ${what} behind ${before}`;
    world.told[letter] = what;
  }

  /** A counter is used for one message, and a key for one content. */
  #use({ made, messages }: Bundle<string>, { epoch, counter, letters }: Sent): void {
    const { counters, sender } = this.#world;
    messages.forEach(({ given }, at) => {
      const key = `${sender.membership} ${counter + at}`;
      if ((counters[key] ??= given) !== given) {
        this.#world.fault ??= `S1: a counter has two messages`;
      }
    });
    if (made === undefined || letters.length === 0 || epoch === 0) {
      this.#world.fault ??= "a bundle leaves without counters";
    }
  }

  /** The job that was begun last ends. */
  sealed(): void {
    const { sender } = this.#world;
    const { next } = sender.outbox;
    if (next.at !== "sealing") return;
    const { job, bundle } = next;
    if (sender.usedKeys >= sender.disk.keys || needsReservation(sender.outbox, bundle)) {
      const { disk } = sender;
      const counters = reserveFor(sender.outbox, job, this.#facts);
      if (counters !== undefined) this.#write(counters);
      const keys = Object.freeze({ ...sender.disk, keys: sender.usedKeys + reservedKeys });
      sender.disk = this.#rules.diskBeforeDeed ? keys : disk;
    }
    this.#useKey(bundle, ++sender.usedKeys);
    this.push({
      type: "sealed",
      job,
      sealed: Object.freeze({ epoch: sender.epoch, message: noBytes }),
    });
  }

  #useKey({ made, messages, id }: Bundle<string>, number: number): void {
    const { keys, sender } = this.#world;
    const content = `${id} ${
      messages.map(({ given }) => given).join()
    } ${made?.first} ${made?.gone?.first}`;
    const key = `${sender.membership} ${sender.epoch} ${number}`;
    if ((keys[key] ??= content) !== content) this.#world.fault ??= "S1: a key seals two contents";
  }

  answer({ call, sent }: Call, reply: Reply): void {
    if ("refused" in reply) {
      const { refused: code, epoch } = reply;
      return this.push({ type: "refused", call, why: Object.freeze({ code, epoch }) });
    }
    const isDuplicate = reply.taken === "duplicate";
    if (sent === undefined) this.push({ type: "asked", call, stands: isDuplicate });
    else this.push({ type: "taken", call, isDuplicate });
  }

  /** Our group is in the next epoch, and no key of it was used. */
  moves(): void {
    const { sender } = this.#world;
    sender.epoch++;
    sender.usedKeys = 0;
    sender.disk = Object.freeze({ ...sender.disk, keys: 0 });
    this.push({ type: "look" });
  }

  enters(epoch: number): void {
    const { sender } = this.#world;
    Object.assign(sender, { epoch, usedKeys: 0, membership: sender.membership + 1 });
    sender.disk = Object.freeze({ ...sender.disk, keys: 0 });
    this.push({ type: "entered", operation: 0 });
  }

  /** Everything that was under way is answered at once, and may come to the relay yet. */
  breaks(): void {
    const { sender, calls } = this.#world;
    sender.isUp = false;
    const broken = calls.splice(0);
    this.push({ type: "look" });
    for (const call of broken) this.answer(call, { refused: "connection_error" });
  }

  starts(): void {
    const { sender, calls, told } = this.#world;
    const { disk: { counters, keys }, process } = sender;
    calls.length = 0;
    for (const [letter, what] of Object.entries(told)) {
      if (what === "waits" || what === "queued") told[letter] = "killed";
    }
    Object.assign(sender, {
      outbox: restoreOutbox(counters),
      usedKeys: keys,
      isUp: false,
      process: process + 1,
      run: sender.run + 1,
    });
  }
}

function sentOf(
  { id, messages, made }: Bundle<string>,
  { epoch }: SealedBundle,
  membership: number,
): Sent {
  return Object.freeze({
    id,
    letters: Object.freeze(messages.map(({ given }) => given)),
    counter: made?.first ?? 0,
    gone: made?.gone && Object.freeze({ ...made.gone }),
    epoch,
    membership,
  });
}

function idOf(letter: string): MessageId {
  return letter as MessageId; // cast: a letter of this world
}

function wordOf(why: Rejection): string {
  if (why.by === "refused") return why.why.code;
  const isSurelyNot = (why.by === "expired" && !why.isTried) ||
    (why.by === "silenced" && !why.mayStand);
  return isSurelyNot ? `${why.by}, not sent` : why.by;
}

/** Refusals that hold up everything of the same run. */
export const comesAgain: ReadonlySet<string> = new Set([
  "overloaded",
  "storage_full",
  "quota_exceeded",
]);

/** As the relay's core judges it. */
export function takeSent(
  state: SendingState,
  { sent, id, run }: Pick<Call, "sent" | "id" | "run">,
): Reply {
  const { relay } = state;
  const { log, epoch, refused } = relay;
  // Requests of an earlier connection come before it, or not at all.
  if (run > 0) state.late = noneLate;
  if (log.some((each) => each.id === id)) return { taken: "duplicate" };
  if (sent === undefined) return { taken: "new" };
  if (refused !== undefined && run <= refused.run) return { refused: refused.code };
  // One of an earlier membership.
  if (sent.epoch !== epoch || sent.membership !== state.sender.membership) {
    return { refused: "epoch_conflict", epoch };
  }
  state.relay = Object.freeze({ ...relay, refused: undefined, log: Object.freeze([...log, sent]) });
  return { taken: "new" };
}

export function lettersHeld(
  { sender: { outbox } }: SendingState,
): readonly OutgoingMessage<string>[] {
  return [...allMessages(outbox)];
}
