/**
 * A node of NATS as a part of the stack. It ends when its standard input does, as every part: a
 * shell beside it sees that. Its process group is its own, because a Ctrl-C of the terminal would
 * end it before the relays have said goodbye.
 */
import { waits } from "../../server/mod.ts";
import { createMonitorClient, natsConfig, type NatsNode } from "./nats_server.ts";
import type { PartProcess } from "./supervised_process.ts";

/**
 * Arguments: the program and its arguments. The end of standard input asks the node to finish;
 * SIGUSR1 ends it at once, and the last line ends whatever of the group is left, this shell
 * included.
 */
const script = `
exec 3<&0
"$@" 3<&- &
node=$!
trap 'kill -9 $node' USR1
{ cat <&3 >/dev/null; kill -TERM $node; } &
wait $node; wait $node
code=$?
trap '' TERM
kill 0
exit $code
`;
const pollMs = 100;
/** Kept of what it says: the end, where the reason is. */
const maxComplaintCharacters = 2_000;

/** Time limits for a node that is not well yet. */
interface NodeTimeouts {
  /** The time limit of one answer. */
  readonly questionMs: number;
  /** Without any answer, well or not. Then the node is ended. */
  readonly silenceMs: number;
}

const usualPatience: NodeTimeouts = { questionMs: waits.nodeHealth.ms, silenceMs: waits.nodeUp.ms };

/** The nodes' keys are there (`keepLocalKeys`). */
export function spawnNatsNode(
  program: string,
  node: NatsNode,
  nodes: readonly NatsNode[],
  patience: NodeTimeouts = usualPatience,
): PartProcess {
  Deno.mkdirSync(node.folder, { recursive: true, mode: 0o700 });
  const config = `${node.folder}/nats.conf`;
  Deno.writeTextFileSync(config, natsConfig(node, nodes), { mode: 0o600 });
  const child = new Deno.Command("sh", {
    args: ["-c", script, "sh", program, "--config", config],
    detached: true,
    // None of the stack's variables, which may be secrets.
    clearEnv: true,
    env: { PATH: "/usr/bin:/bin" },
    stdin: "piped",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const over = new AbortController();
  let complaints = "";
  const { readable: lines, writable } = new TransformStream<string, string>();
  const writer = writable.getWriter();
  const say = (line: string): void => void writer.write(line).catch(() => {});
  const reading = (async () => {
    let rest = "";
    for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) {
      complaints = (complaints + text).slice(-maxComplaintCharacters);
      const parts = (rest + text).split("\n");
      rest = parts.pop() ?? "";
      parts.forEach(say);
    }
  })();
  const kill = (): void => {
    try {
      child.kill("SIGUSR1");
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // It has ended already.
    }
  };
  void untilWell(node, over.signal, patience).then((state) => {
    if (state === "well") {
      say(JSON.stringify({ event: "listening", url: `tls://127.0.0.1:${node.clientPort}` }));
    }
    if (state !== "silent") return;
    complaints += `\nThe node did not answer for ${patience.silenceMs / 1000} s, and was ended`;
    kill();
  });
  const letGo = (): void => void child.stdin.close().catch(() => {});
  return {
    lines,
    ended: Promise.all([child.status, reading]).then(([{ code }]) => {
      over.abort();
      letGo();
      void writer.close().catch(() => {});
      return `ended with code ${code}`;
    }),
    complaints: () => complaints,
    letGo,
    kill,
  };
}

/**
 * A node of a cluster is well when it has the cluster's metadata, for which another node must be
 * there. One that answers may take as long as it likes: it reads its store, or gets what it has
 * missed.
 */
async function untilWell(
  node: NatsNode,
  over: AbortSignal,
  { questionMs, silenceMs }: NodeTimeouts,
): Promise<"well" | "silent" | "over"> {
  using client = createMonitorClient(node);
  let heardMs = performance.now();
  while (!over.aborted && performance.now() - heardMs < silenceMs) {
    try {
      const signal = AbortSignal.any([over, AbortSignal.timeout(questionMs)]);
      const answer = await fetch(`https://127.0.0.1:${node.monitorPort}/healthz`, {
        signal,
        client,
      });
      await answer.body?.cancel();
      if (answer.ok) return "well";
      heardMs = performance.now();
    } catch {
      // The node does not listen yet, is frozen, or has ended.
    }
    await new Promise<void>((resolve) => setTimeout(resolve, pollMs));
  }
  return over.aborted ? "over" : "silent";
}
