/** A client that uses the typed gRPC calls and the `Deliver` stream, over any Connect transport. */
import type { Message } from "@bufbuild/protobuf";
import { ConnectError, createClient, type Transport } from "@connectrpc/connect";
import {
  ErrorDetailSchema,
  errorFromDetail,
  noticeFromDelivery,
  Relay,
  replyFromMessage,
  requestToMessage,
} from "../../../proto/wire/grpc.ts";
import {
  type CallName,
  encodeBase64url,
  type ReplyBody,
  type RequestBody,
} from "../../../proto/mod.ts";
import { CallFailed, deferred, NoticeLog, type RelayClient } from "./relay_client.ts";

type Unary = (message: Message, options: { headers?: Record<string, string> }) => Promise<Message>;

export class TypedClient implements RelayClient {
  readonly notices = new NoticeLog();
  readonly #client;
  readonly #ended = deferred<string | undefined>();
  readonly #abort = new AbortController();
  #headers: Record<string, string> = {};

  constructor(transport: Transport) {
    this.#client = createClient(Relay, transport);
    this.#ended.promise.catch(() => {});
  }

  get ended(): Promise<string | undefined> {
    return this.#ended.promise;
  }

  async call<Name extends CallName>(
    operation: Name,
    body: RequestBody<Name>,
  ): Promise<ReplyBody<Name>> {
    const name = operation.charAt(0).toLowerCase() + operation.slice(1);
    const method = (this.#client as unknown as Record<string, Unary>)[name];
    if (method === undefined) throw new Error(`no method ${name}`);
    try {
      const message = await method(requestToMessage(operation, body), { headers: this.#headers });
      const reply = replyFromMessage(operation, message);
      if (operation === "Authenticate") {
        await this.#authenticated(reply as ReplyBody<"Authenticate">);
      }
      return reply;
    } catch (error) {
      throw toCallFailed(error);
    }
  }

  close(): void {
    this.#abort.abort();
  }

  async #authenticated({ sessionToken }: ReplyBody<"Authenticate">): Promise<void> {
    this.#headers = { "static-session": encodeBase64url(sessionToken) };
    const opened = deferred<void>();
    void this.#deliver(opened.resolve).then(this.#ended.resolve, (error) => {
      opened.resolve();
      this.#ended.resolve(toCallFailed(error).code);
    });
    await opened.promise;
  }

  async #deliver(onOpen: () => void): Promise<undefined> {
    const options = {
      headers: this.#headers,
      signal: this.#abort.signal,
      onHeader: () => onOpen(),
    };
    for await (const delivery of this.#client.deliver({}, options)) {
      this.notices.add(noticeFromDelivery(delivery));
    }
    onOpen();
  }
}

export function toCallFailed(error: unknown): CallFailed {
  const connectError = ConnectError.from(error);
  const [detail] = connectError.findDetails(ErrorDetailSchema);
  if (detail !== undefined) return new CallFailed(errorFromDetail(detail));
  return new CallFailed({ code: "transport_error", message: connectError.message });
}
