/**
 * Requests to channels, shared by the programs that serve them: each request goes to one program.
 * When that one goes away without an answer, the request goes to the next, until its deadline;
 * `attempt` says so.
 */
import type { Channel } from "../../api/channel.ts";
import { invalidArgument } from "../../base/errors.ts";
import { RemoteHandlerFailure } from "../../content/handler_failure.ts";
import type { IncomingRequest } from "../../content/incoming_request.ts";
import type { Serving } from "../../content/service.ts";
import type { Sendable } from "../../content/values.ts";
import { encodeEnvelope } from "../wire_values.ts";
import type { ItemSource, RequestSettler, StreamItem } from "./streams.ts";

interface ServedRequest {
  readonly request: IncomingRequest;
  /** Programs that had it before. */
  handedOut: number;
  readonly reply: (value: Sendable) => void;
  readonly fail: (error: Error) => void;
}

interface ServingProgram {
  readonly concurrency: number;
  readonly running: Set<ServedRequest>;
  stopped: boolean;
  /** A request that it has need not be answered any more. */
  readonly onOver: (job: ServedRequest) => void;
}

/** Tells the program that an item of its is over. */
export type ItemEndListener = (isIt: (item: StreamItem) => boolean) => void;

const defaultConcurrency = 16;

export class ServedChannels {
  readonly #channels = new Map<string, ServedChannel>();

  serve(channel: Channel, wanted: number | undefined, onOver: ItemEndListener): ItemSource {
    // The channel is found by its id: one that was left and joined again is another one.
    let served = this.#channels.get(channel.id);
    if (served === undefined || served.isOver) {
      served = new ServedChannel(channel);
      this.#channels.set(channel.id, served);
    }
    return served.join(wanted ?? defaultConcurrency, onOver);
  }
}

class ServedChannel {
  readonly #channel: Channel;
  readonly #servers = new Set<ServingProgram>();
  #jobs: ServedRequest[] = [];
  #serving: Serving | undefined;
  #wakers: (() => void)[] = [];
  isOver = false;

  constructor(channel: Channel) {
    this.#channel = channel;
  }

  join(concurrency: number, tellOver: ItemEndListener): ItemSource {
    const items = new Map<ServedRequest, StreamItem>();
    const onOver = (job: ServedRequest): void => {
      const item = items.get(job);
      items.delete(job);
      if (item !== undefined) tellOver((each) => each === item);
    };
    const server: ServingProgram = { concurrency, running: new Set(), stopped: false, onOver };
    this.#servers.add(server);
    try {
      this.#serve();
    } catch (error) {
      this.#servers.delete(server);
      throw error;
    }
    return {
      next: async () => {
        const job = await this.#take(server);
        if (job === undefined) return undefined;
        const item = itemOf(job, this.#settle(server, job, () => items.delete(job)));
        items.set(job, item);
        return item;
      },
      end: (gone) => this.#leave(server, gone),
    };
  }

  async #take(server: ServingProgram): Promise<ServedRequest | undefined> {
    for (;;) {
      if (server.stopped || this.isOver) return undefined;
      const job = server.running.size < server.concurrency ? this.#jobs.shift() : undefined;
      if (job !== undefined) {
        server.running.add(job);
        job.handedOut++;
        return job;
      }
      await new Promise<void>((resolve) => this.#wakers.push(resolve));
    }
  }

  #settle(server: ServingProgram, job: ServedRequest, onDone: () => void): RequestSettler {
    const done = (act: () => void): void => {
      if (!server.running.delete(job)) return;
      onDone();
      act();
      this.#wake();
    };
    return {
      reply: (body, contentType) => {
        const value = valueOf(body, contentType);
        done(() => job.reply(value));
      },
      fail: (error) => done(() => job.fail(error)),
    };
  }

  #leave(server: ServingProgram, gone: boolean): void {
    server.stopped = true;
    this.#servers.delete(server);
    if (gone) {
      this.#jobs.unshift(...server.running);
      server.running.clear();
    }
    this.#serve();
    this.#wake();
  }

  /** So many requests are begun as programs want. */
  #serve(): void {
    void this.#serving?.stop();
    this.#serving = undefined;
    const concurrency = [...this.#servers].reduce((sum, each) => sum + each.concurrency, 0);
    if (concurrency === 0 || this.isOver) return;
    const serving = this.#channel.serve((request) => this.#handle(request), { concurrency });
    this.#serving = serving;
    void serving.ended.then(() => {
      if (this.#serving !== serving) return;
      this.isOver = true;
      this.#wake();
    });
  }

  #handle(request: IncomingRequest): Promise<Sendable> {
    return new Promise((resolve, reject) => {
      const job: ServedRequest = { request, handedOut: 0, reply: resolve, fail: reject };
      request.signal.addEventListener("abort", () => this.#over(job), { once: true });
      this.#jobs.push(job);
      this.#wake();
    });
  }

  #over(job: ServedRequest): void {
    this.#jobs = this.#jobs.filter((each) => each !== job);
    for (const { running, onOver } of this.#servers) if (running.delete(job)) onOver(job);
    job.fail(new RemoteHandlerFailure("The request's deadline is over"));
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#wakers.splice(0)) wake();
  }
}

function itemOf({ request, handedOut }: ServedRequest, settle: RequestSettler): StreamItem {
  const { attempt, deadlineMs, bytes } = request;
  return {
    header: { envelope: encodeEnvelope(request), attempt: attempt + handedOut - 1, deadlineMs },
    bytes,
    settle,
  };
}

/** Returns the value of a reply. A reply can have no content type but that of JSON. */
function valueOf(body: Uint8Array, contentType: string | undefined): Sendable {
  if (contentType === undefined) return body;
  if (contentType !== "application/json") {
    throw invalidArgument(
      "A reply is bytes, or JSON: leave contentType out, or give application/json",
    );
  }
  try {
    return { json: JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body)) };
  } catch {
    throw invalidArgument("The reply is no JSON");
  }
}
