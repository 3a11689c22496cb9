/**
 * A client that changes relays between any two of its calls: it opens a session at the next relay,
 * which ends the one before, subscribes again and reads on. Its deliveries are one log, each
 * delivery once, as an SDK would see it.
 */
import type {
  CallName,
  ChannelId,
  NoticeEnvelope,
  ReplyBody,
  RequestBody,
} from "../../../proto/mod.ts";
import { protocolVersion } from "../../../proto/mod.ts";
import { NoticeLog, type RelayClient } from "./relay_client.ts";

export interface MovingClientOptions {
  /** At the next relay. */
  readonly open: () => Promise<RelayClient>;
}

type Answer = (relayNonce: Uint8Array) => RequestBody<"Authenticate">;

/** Calls that are about the connection itself, or that end it. */
const staying: ReadonlySet<CallName> = new Set([
  "GetChallenge",
  "Authenticate",
  "EndSession",
  "RenewToken",
  "Ping",
]);

export class MovingClient implements RelayClient {
  readonly notices = new NoticeLog();
  readonly #options: MovingClientOptions;
  #client: RelayClient;
  #answer: Answer | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  readonly #subscriptions = new Map<ChannelId, RequestBody<"Subscribe">>();
  readonly #delivered = new Set<string>();
  readonly #ended = Promise.withResolvers<string | undefined>();
  readonly ended: Promise<string | undefined> = this.#ended.promise;
  moves = 0;
  onMoved: () => void = () => {};

  private constructor(client: RelayClient, options: MovingClientOptions) {
    this.#options = options;
    this.#client = client;
    this.#adopt(client);
  }

  static async open(options: MovingClientOptions): Promise<MovingClient> {
    return new MovingClient(await options.open(), options);
  }

  /** How its agent answers the challenge of another relay. */
  authenticateWith(answer: Answer): void {
    this.#answer = answer;
  }

  call<Name extends CallName>(operation: Name, body: RequestBody<Name>): Promise<ReplyBody<Name>> {
    if (staying.has(operation) || this.#answer === undefined) {
      return this.#client.call(operation, body);
    }
    // One after the other: a session ends with what is under way in it.
    const answered = this.#turn.then(async () => {
      const client = await this.#move();
      const reply = await client.call(operation, body);
      this.#note(operation, body);
      return reply;
    });
    this.#turn = answered.catch(() => {});
    return answered;
  }

  close(): void {
    this.#client.close();
  }

  #note(operation: CallName, body: RequestBody<CallName>): void {
    if (operation === "Subscribe") {
      const subscription = body as RequestBody<"Subscribe">; // cast: of the operation
      this.#subscriptions.set(subscription.channelId, subscription);
    }
    if (operation === "Unsubscribe") {
      this.#subscriptions.delete((body as RequestBody<"Unsubscribe">).channelId); // cast: the same
    }
  }

  async #move(): Promise<RelayClient> {
    const answer = this.#answer;
    if (answer === undefined) return this.#client;
    const next = await this.#options.open();
    const before = this.#client;
    this.#client = next;
    this.#adopt(next);
    const { nonce } = await next.call("GetChallenge", {
      versions: [protocolVersion],
      features: [],
    });
    await next.call("Authenticate", answer(nonce));
    before.close();
    for (const [channelId, subscription] of this.#subscriptions) {
      const { after: _, ...rest } = subscription;
      // A channel that has ended for this agent is not read again.
      await next.call("Subscribe", rest).catch(() => this.#subscriptions.delete(channelId));
    }
    this.moves++;
    this.onMoved();
    return next;
  }

  #adopt(client: RelayClient): void {
    client.notices.onAdded = (notice) => this.#take(notice);
    void client.ended.then((code) => {
      if (client === this.#client) this.#ended.resolve(code);
    });
  }

  /** A delivery that comes again at another relay is taken once. */
  #take(notice: NoticeEnvelope): void {
    const { operation, body } = notice;
    if (operation === "SessionEnding" && body.code === "session_replaced" && this.moves > 0) return;
    const key = JSON.stringify(
      [operation, body],
      (_, value) => value instanceof Uint8Array ? [...value] : value,
    );
    if (this.#delivered.has(key)) return;
    this.#delivered.add(key);
    this.notices.add(notice);
  }
}
