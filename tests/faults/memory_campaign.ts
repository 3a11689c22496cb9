/** Steady traffic does not make memory grow. */
import { assertGreater, assertLess } from "@std/assert";
import { tried } from "../support/campaign.ts";
import { TextLineStream } from "../support/lines.ts";
import type { HeapSample } from "./steady_traffic.ts";

const seconds = 600;
/** Caches fill and code is compiled, which takes a thousand messages or two. */
const warmSeconds = 60;
const samples = 60;
/**
 * Less than what code still being compiled takes; a payload that stays behind for each message is
 * many times this.
 */
const mostBytes = 1.5 * 2 ** 20;

const script = new URL("steady_traffic.ts", import.meta.url).pathname;

class Steady implements AsyncDisposable {
  readonly #folder: string;
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #lines: AsyncIterator<string>;

  private constructor(folder: string) {
    this.#folder = folder;
    const flags = ["--no-check", "--quiet", "--unstable-net", "--v8-flags=--expose-gc"];
    const args = ["run", "-A", ...flags, script, folder];
    this.#child = new Deno.Command(Deno.execPath(), { args, stdin: "piped", stdout: "piped" })
      .spawn();
    this.#input = this.#child.stdin.getWriter();
    const lines = this.#child.stdout.pipeThrough(new TextDecoderStream()).pipeThrough(
      new TextLineStream(),
    );
    this.#lines = lines[Symbol.asyncIterator]();
  }

  static async start(): Promise<Steady> {
    const steady = new Steady(await Deno.makeTempDir({ prefix: "static-memory-" }));
    await steady.#lines.next();
    return steady;
  }

  async sample(): Promise<HeapSample> {
    await this.#input.write(new TextEncoder().encode("sample\n"));
    return JSON.parse((await this.#lines.next()).value);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#lines.return?.();
    await this.#child.status;
    await Deno.remove(this.#folder, { recursive: true });
  }
}

async function pause(ms: number): Promise<void> {
  // wait: traffic has to flow between two samples
  await new Promise((resolve) => setTimeout(resolve, ms));
}

/**
 * How far the floor has risen from the first third to the last; what is collected late does not
 * count.
 */
function rise(values: readonly number[]): number {
  const third = Math.floor(values.length / 3);
  return Math.min(...values.slice(-third)) - Math.min(...values.slice(0, third));
}

function inMegabytes(values: readonly number[]): string {
  return values.map((value) => (value / 2 ** 20).toFixed(2)).join(", ");
}

Deno.test(`${seconds} s of steady traffic through a relay and two agents leave nothing behind on the heap`, async () => {
  await using steady = await Steady.start();
  await pause(warmSeconds * 1_000);
  const points: HeapSample[] = [];
  for (let at = 0; at < samples; at++) {
    points.push(await steady.sample());
    await pause(seconds * 1_000 / samples);
  }
  const messages = (points.at(-1)?.heard ?? 0) - (points[0]?.heard ?? 0);
  const heap = points.map(({ heapBytes }) => heapBytes);
  const external = points.map(({ externalBytes }) => externalBytes);
  console.log(
    `${messages} messages; heap after collection ${inMegabytes(heap)} MB, outside ${
      inMegabytes(external)
    } MB`,
  );
  tried(`${messages} messages`);
  assertGreater(messages, seconds * 5, "the traffic was not steady");
  assertLess(rise(heap), mostBytes, "the heap grows");
  assertLess(rise(external), mostBytes, "buffers outside of the heap grow");
});
