/**
 * A load on a relay over any stream of cells: one member sends, the others count what they are
 * delivered. It runs in Deno (QUIC) and in Node (gRPC) alike, and does no more than a client must:
 * cells, envelopes, acknowledgements.
 */
import { ed25519 } from "@noble/curves/ed25519.js";
import {
  type AgentId,
  agentIdOf,
  authenticationStatement,
  binaryIdFromBytes,
  binaryIdToBytes,
  type CallName,
  calls,
  CellPacker,
  CellReader,
  type ChannelId,
  decodeRelayEnvelope,
  encodeClientNotice,
  encodeMessageAad,
  encodeRequest,
  envelopeCapacity,
  limits,
  maxMessageEnvelopeOverhead,
  type MessageId,
  type NoticeEnvelope,
  parseChannelName,
  protocolVersion,
  type ReplyBody,
  type RequestBody,
} from "../../proto/mod.ts";
import { createPrivateMessage, createWelcome } from "../../tests/support/mls.ts";
import { signedCommit } from "../../tests/support/signed_commit.ts";

/** One stream of cells to the relay. */
export interface LoadStream {
  read(onChunk: (chunk: Uint8Array) => void): Promise<void>;
  write(cells: Uint8Array<ArrayBuffer>): Promise<unknown>;
  close(): void;
}

export interface LoadTarget {
  readonly origin: string;
  connect(): Promise<LoadStream>;
}

export interface LoadAgents {
  readonly token: string;
  /** The number of the first of them: loads that run at once must not share agents. */
  readonly first: number;
}

export interface LoadResult {
  readonly deliveries: number;
  readonly seconds: number;
}

/** Messages under way. */
const sendWindow = 64;
/** Deliveries between two acknowledgements. */
const acknowledgeEvery = 32;
const maxCellsPerWrite = 16;

export class LoadClient {
  onNotice: (notice: NoticeEnvelope) => void = () => {};
  readonly agentId: AgentId;
  readonly #secretKey: Uint8Array;
  readonly #identity: Uint8Array;
  readonly #target: LoadTarget;
  readonly #packer = new CellPacker(limits.cellBytes);
  readonly #reader = new CellReader({
    cellBytes: limits.cellBytes,
    maxEnvelopeBytes: limits.envelopeBytes,
  });
  readonly #calls = new Map<
    number,
    { resolve: (body: never) => void; reject: (error: Error) => void }
  >();
  #stream: LoadStream | undefined;
  #nextId = 1;
  #writing = false;

  constructor(target: LoadTarget, number: number) {
    this.#target = target;
    this.#secretKey = new Uint8Array(32).fill(1);
    new DataView(this.#secretKey.buffer).setUint32(0, number);
    this.#identity = new TextEncoder().encode(`load ${number}`);
    this.agentId = agentIdOf(ed25519.getPublicKey(this.#secretKey), this.#identity);
  }

  async open(token: string): Promise<void> {
    const stream = await this.#target.connect();
    this.#stream = stream;
    stream.read((chunk) => this.#reader.read(chunk, (envelope) => this.#receive(envelope))).catch(
      () => {},
    );
    const { nonce } = await this.call("GetChallenge", {
      versions: [protocolVersion],
      features: [],
    });
    const publicKey = ed25519.getPublicKey(this.#secretKey);
    const { origin } = this.#target;
    const clientNonce = new Uint8Array(32);
    const statement = { origin, relayNonce: nonce, clientNonce, token, agentId: this.agentId };
    const signature = this.sign(authenticationStatement(statement));
    await this.call("Authenticate", {
      ...statement,
      publicKey,
      identity: this.#identity,
      signature,
    });
  }

  call<Name extends CallName>(operation: Name, body: RequestBody<Name>): Promise<ReplyBody<Name>> {
    const id = this.#nextId++;
    return new Promise<ReplyBody<Name>>((resolve, reject) => {
      // cast: of this operation's own reply
      this.#calls.set(id, { resolve: resolve as (body: never) => void, reject });
      this.#send(calls[operation].lane, encodeRequest(id, operation, body));
    });
  }

  sign(statement: Uint8Array): Uint8Array {
    return ed25519.sign(statement, this.#secretKey);
  }

  acknowledge(body: RequestBody<"Acknowledge">): void {
    this.#send("control", encodeClientNotice(this.#nextId++, "Acknowledge", body));
  }

  close(): void {
    this.#stream?.close();
  }

  #receive(bytes: Uint8Array): void {
    const envelope = decodeRelayEnvelope(bytes);
    if (envelope.kind === "notice") return this.onNotice(envelope);
    const call = this.#calls.get(envelope.id);
    this.#calls.delete(envelope.id);
    if (envelope.kind === "error") {
      call?.reject(new Error(`${envelope.body.code}: ${envelope.body.message}`));
    } else call?.resolve(envelope.body as never); // cast: the reply to the call of this id
  }

  #send(lane: "control" | "data", envelope: Uint8Array): void {
    this.#packer.push(lane, envelope);
    if (!this.#writing) void this.#write();
  }

  async #write(): Promise<void> {
    this.#writing = true;
    await Promise.resolve();
    for (;;) {
      const cells: Uint8Array[] = [];
      for (let cell = this.#packer.next(); cell !== undefined; cell = this.#packer.next()) {
        cells.push(cell);
        if (cells.length === maxCellsPerWrite) break;
      }
      if (cells.length === 0) break;
      const joined = new Uint8Array(cells.length * limits.cellBytes);
      cells.forEach((cell, index) => joined.set(cell, index * limits.cellBytes));
      await this.#stream?.write(joined);
    }
    this.#writing = false;
  }
}

export class Load {
  readonly #sender: LoadClient;
  readonly #receivers: LoadClient[];
  readonly #channelId: ChannelId;
  #sent = 0;
  #delivered = 0;
  #wanted = 0;
  #done: () => void = () => {};

  private constructor(sender: LoadClient, receivers: LoadClient[], channelId: ChannelId) {
    this.#sender = sender;
    this.#receivers = receivers;
    this.#channelId = channelId;
  }

  /** Connects everybody and puts them into one channel. */
  static async create(
    target: LoadTarget,
    receivers: number,
    { token, first }: LoadAgents,
  ): Promise<Load> {
    const clients = Array.from(
      { length: receivers + 1 },
      (_, number) => new LoadClient(target, first + number),
    );
    for (const client of clients) await client.open(token);
    const [sender, ...others] = clients;
    if (sender === undefined) throw new Error("No sender");
    const nonce = crypto.getRandomValues(new Uint8Array(16));
    const name = parseChannelName(`bench/relay/load-${nonce.join("")}`);
    const { channelId } = await sender.call("CreateChannel", { name, nonce });
    await sender.call("SendCommit", commitOf(sender, channelId, 0, others));
    const load = new Load(sender, others, channelId);
    for (const client of others) await load.#follow(client);
    return load;
  }

  async run(messages: number): Promise<LoadResult> {
    const done = new Promise<void>((resolve) => this.#done = resolve);
    const deliveries = messages * this.#receivers.length;
    this.#wanted = this.#delivered + deliveries;
    const start = performance.now();
    let left = messages;
    const worker = async (): Promise<void> => {
      while (left-- > 0) await this.#sendOne();
    };
    await Promise.all(Array.from({ length: sendWindow }, worker));
    await done;
    return { deliveries, seconds: (performance.now() - start) / 1_000 };
  }

  close(): void {
    for (const client of [this.#sender, ...this.#receivers]) client.close();
  }

  /** Reads everything and acknowledges now and then. */
  async #follow(client: LoadClient): Promise<void> {
    const channelId = this.#channelId;
    let unacknowledged = 0;
    client.onNotice = ({ operation, body }) => {
      if (operation !== "DeliverMessage") return;
      if (++unacknowledged === acknowledgeEvery) {
        unacknowledged = 0;
        client.acknowledge({ channelId, consumed: body.sequence, received: body.sequence });
      }
      if (++this.#delivered === this.#wanted) this.#done();
    };
    await client.call("Acknowledge", { channelId, consumed: 1, received: 1 });
    await client.call("Subscribe", { channelId, windowBytes: 1 << 20, tag: 1 });
  }

  #sendOne(): Promise<unknown> {
    const bytes = new Uint8Array(16);
    new DataView(bytes.buffer).setUint32(0, ++this.#sent);
    const messageId = binaryIdFromBytes<MessageId>(bytes);
    const ciphertext = createPrivateMessage({
      groupId: binaryIdToBytes(this.#channelId),
      epoch: 1,
      authenticatedData: encodeMessageAad({ messageId, counter: this.#sent }),
      ciphertext: new Uint8Array(cellFillingBytes),
    });
    return this.#sender.call("SendMessage", {
      channelId: this.#channelId,
      epoch: 1,
      messageId,
      ciphertext,
    });
  }
}

/**
 * As MLS padding does: a message of one cell fills it. `createPrivateMessage` adds about 100 bytes
 * around it.
 */
const cellFillingBytes = envelopeCapacity(1, limits.cellBytes) - maxMessageEnvelopeOverhead - 100;

/**
 * A load process: answers every line `receivers messages` with `warm` and a result, until `end`.
 */
export async function answerLines(
  lines: AsyncIterable<string>,
  target: LoadTarget,
  token: string,
  first = 0,
): Promise<void> {
  console.log("ready");
  for await (const line of lines) {
    const [receivers = 1, messages = 1] = line.split(" ").map(Number);
    const load = await Load.create(target, receivers, { token, first });
    await load.run(Math.ceil(messages / 5));
    console.log("warm");
    console.log(JSON.stringify(await load.run(messages)));
    load.close();
  }
}

/** Adds these to a channel; what it holds is opaque to the relay. */
export function commitOf(
  sender: LoadClient,
  channelId: ChannelId,
  epoch: number,
  members: readonly LoadClient[],
): RequestBody<"SendCommit"> {
  const added = members.map(({ agentId }) => agentId);
  const commit = createPrivateMessage({
    groupId: binaryIdToBytes(channelId),
    epoch,
    contentType: 3,
  });
  const welcomes = added.length === 0
    ? []
    : [{ recipients: added, welcome: createWelcome(added.length) }];
  return signedCommit(
    { channelId, epoch, commit, added, welcomes },
    (statement) => sender.sign(statement),
  );
}
