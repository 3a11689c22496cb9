// The relay is killed with calls under way and started again on the same ports: sessions come back
// by themselves.
import { assertEquals } from "@std/assert";
import { platform } from "../../sdk/platform/deno.ts";
import { createProject } from "../../tools/bundle.ts";
import { node } from "../support/runtime/node.ts";
import { testWhen } from "../support/mod.ts";
import { expectedStory, liveThroughCrash } from "./crash_agent.ts";
import { startStack } from "../support/stack.ts";

/** An agent under way: what it has told so far, and the moments that the test waits for. */
class Story {
  readonly lines: string[] = [];
  readonly #waiting: { readonly line: string; readonly resolve: () => void }[] = [];

  readonly tell = (line: string): void => {
    this.lines.push(line);
    for (const { line: wanted, resolve } of this.#waiting) {
      if (this.lines.includes(wanted)) resolve();
    }
  };

  until(line: string): Promise<void> {
    if (this.lines.includes(line)) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ line, resolve }));
  }
}

testWhen(
  node,
  "sessions survive kill -9 of the relay: calls under way fail as transport_error, then all are back",
  async () => {
    await using stack = await startStack();
    await using project = await createProject();
    const bundle = await project.bundle(new URL("crash_node.ts", import.meta.url), "node");
    const { apiKey } = stack.account;
    const options = { apiKey, apiUrl: stack.api.url, tls: { caFile: stack.caFile } };
    const stopped = Promise.withResolvers<void>();
    const [quic, cells, grpc] = [new Story(), new Story(), new Story()];

    const child = new Deno.Command("node", {
      args: [bundle, JSON.stringify({ ...options, endpoint: stack.grpcUrl })],
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    const ends = [
      liveThroughCrash(platform, {
        options: { ...options, endpoint: stack.quicUrl },
        agent: 7,
        tell: quic.tell,
        stopped: stopped.promise,
      }),
      liveThroughCrash(platform, {
        options: { ...options, endpoint: stack.grpcUrl },
        agent: 8,
        tell: cells.tell,
        stopped: stopped.promise,
      }),
      tellLines(child.stdout, grpc.tell),
    ];
    const all = [quic, cells, grpc];
    await Promise.all(all.map((story) => story.until("online")));
    stack.signalRelay("SIGSTOP");
    stopped.resolve();
    const input = child.stdin.getWriter();
    await input.write(new TextEncoder().encode("stopped\n"));
    await input.close();
    await Promise.all(all.map((story) => story.until("called")));
    await stack.killRelay();
    await stack.startRelay();
    await Promise.all(ends);
    assertEquals(all.map(({ lines }) => lines), [expectedStory, expectedStory, expectedStory]);
    assertEquals((await child.status).code, 0);
  },
);

async function tellLines(
  output: ReadableStream<Uint8Array<ArrayBuffer>>,
  tell: (line: string) => void,
): Promise<void> {
  let rest = "";
  for await (const text of output.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    lines.forEach(tell);
  }
}
