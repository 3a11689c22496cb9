/**
 * One side of a request, in a process of its own that can be killed at any point: it writes down
 * each step before the next one happens. Lines on its input are keys of requests that it is to
 * make.
 */
import { type ConnectOptions, StaticClient, StaticError } from "../../sdk/mod.ts";
import { TextLineStream } from "../support/lines.ts";

export interface Role {
  readonly options: ConnectOptions;
  readonly channel: string;
  /** The agents that are asked; one that has none serves. */
  readonly to?: readonly string[];
  /** How long handling takes. */
  readonly workMs: number;
}

/** The steps that it prints, one a line. */
export type Step =
  | { readonly step: "ready" }
  | {
    readonly step: "running";
    readonly key: string;
    readonly by: string;
    readonly attempt: number;
    readonly atMs: number;
  }
  | { readonly step: "returning"; readonly key: string }
  | { readonly step: "asked"; readonly key: string }
  | {
    readonly step: "reply";
    readonly key: string;
    readonly from: string;
    readonly text: string;
    readonly acceptedMs: number;
  }
  | { readonly step: "answered"; readonly key: string }
  | { readonly step: "failed"; readonly key: string; readonly code: string };

function write(step: Step): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${JSON.stringify(step)}\n`));
}

async function main({ options, channel: name, to, workMs }: Role): Promise<void> {
  const client = await StaticClient.connect(options);
  const channel = await client.channel(name);
  if (to === undefined) {
    channel.serve(async (request) => {
      const key = request.text();
      write({
        step: "running",
        key,
        by: client.agentId,
        attempt: request.attempt,
        atMs: Date.now(),
      });
      await new Promise((resolve) => setTimeout(resolve, workMs)); // wait: work that takes its time
      write({ step: "returning", key });
      return `${client.agentId} has done ${key}`;
    });
  }
  write({ step: "ready" });
  const ask = async (key: string): Promise<void> => {
    try {
      const answers = channel.requestAll(key, { to: to ?? [], key, timeoutMs: 120_000 });
      write({ step: "asked", key });
      for await (const answer of answers) {
        if (!answer.ok) throw answer.error;
        const { from, reply } = answer;
        write({ step: "reply", key, from, text: reply.text(), acceptedMs: reply.timeMs });
      }
      write({ step: "answered", key });
    } catch (error) {
      write({
        step: "failed",
        key,
        code: error instanceof StaticError ? error.code : String(error),
      });
    }
  };
  const lines = Deno.stdin.readable.pipeThrough(new TextDecoderStream()).pipeThrough(
    new TextLineStream(),
  );
  for await (const key of lines) void ask(key);
}

if (import.meta.main) await main(JSON.parse(Deno.args[0] ?? ""));
