// Decisions about silence are carried out, told to the log of the process, and counted.
import { assertEquals, assertStringIncludes } from "@std/assert";
import { ProbeError } from "../nodes/nodes.ts";
import { LogSilences } from "./log_silences.ts";
import type { SilenceReading } from "./silence_watch.ts";

/**
 * The nodes, as a relay with two logs sees them, and a clock that stands still between two looks.
 */
class Stage {
  /** Of clients and of probes that follow; taken until told otherwise. */
  renewal: () => Promise<void> = () => Promise.resolve();
  probing: () => Promise<void> = () => Promise.resolve();
  readonly tried: Uint8Array[] = [];
  readonly told: Record<string, unknown>[] = [];
  readonly done: string[] = [];
  readonly silences: LogSilences;
  oldest: Uint8Array | undefined = new Uint8Array([7]);
  #nowMs = 0;

  constructor() {
    this.silences = new LogSilences({
      nodes: {
        renew: () => this.renewal(),
        probe: ({ name }, entry) => {
          assertEquals(name, "stage_LOG");
          this.tried.push(entry);
          return this.probing();
        },
      },
      prefix: "stage",
      nowMs: () => this.#nowMs,
      log: (_level, event, fields) => void this.told.push({ event, ...fields }),
      oldest: () => this.oldest,
      sendAgentsAway: () => void this.done.push("away"),
      end: (why) => void this.done.push(why),
    });
  }

  /** Looks every second for so long, and lets answers arrive between two looks. */
  async look(
    seconds: number,
    { disk = well, memory = well }: { disk?: Read; memory?: Read },
  ): Promise<void> {
    for (let second = 1; second <= seconds; second++) {
      this.#nowMs += 1_000;
      this.silences.look({ disk: disk(second), memory: memory(second) });
      for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    }
  }

  events(event: string): Record<string, unknown>[] {
    return this.told.filter((each) => each.event === event);
  }
}

type Read = (second: number) => SilenceReading;
const well: Read = () => ({ waitingMs: 0, refusal: undefined });
const silent: Read = (second) => ({ waitingMs: second * 1_000, refusal: undefined });
const refused: Read = (second) => ({
  waitingMs: second * 1_000,
  refusal: "10077 maximum bytes exceeded",
});

Deno.test("a log that answers another connection ends the relay, once its agents are sent away", async () => {
  const stage = new Stage();
  await stage.look(41, { disk: silent });
  const [away, why = "", ...more] = stage.done;
  assertEquals([away, more], ["away", []]);
  assertStringIncludes(why, "answers others. This relay ends");
  assertEquals(stage.tried, [new Uint8Array([7])]);
  assertEquals(stage.events("log_deaf").length, 1);
});

Deno.test("a client counts when a node took it", async () => {
  const stage = new Stage();
  stage.renewal = () => Promise.reject(new Error("no node"));
  await stage.look(7, { disk: silent });
  assertEquals([stage.silences.clients, stage.events("node_not_reached").length], [0, 1]);
  stage.renewal = () => Promise.resolve();
  await stage.look(4, { disk: (second) => silent(7 + second) });
  assertEquals(stage.silences.clients, 1);
});

Deno.test("the reason of a failed probe is told in full to the log, once, and in short to everybody", async () => {
  const stage = new Stage();
  const cause = new Error("10.0.0.7 says: stream is offline");
  stage.probing = () =>
    Promise.reject(new ProbeError("its nodes take nobody's entries", { cause }));
  await stage.look(60, { disk: silent });
  assertEquals(stage.done, ["away"]);
  assertEquals(
    stage.silences.problem,
    "The shared log has not answered this relay for 60 s: its nodes take nobody's entries. " +
      "It goes on when the nodes answer. Look at them",
  );
  assertEquals(stage.events("log_unusable").length, 1);
  assertStringIncludes(JSON.stringify(stage.told), "stream is offline");
  stage.probing = () => Promise.reject(new ProbeError("its nodes cannot be reached"));
  await stage.look(10, { disk: (second) => silent(60 + second) });
  assertEquals(stage.events("log_unusable").length, 2);
});

Deno.test("a relay that has sent nothing does not end", async () => {
  const stage = new Stage();
  stage.oldest = undefined;
  await stage.look(60, { disk: silent });
  assertEquals([stage.done, stage.tried], [["away"], []]);
});

Deno.test("the nodes' words for a refusal are told to the log, once in each silence, and to nobody else", async () => {
  const stage = new Stage();
  await stage.look(20, { disk: refused });
  const { problem = "" } = stage.silences;
  assertStringIncludes(problem, "The shared log has refused every write for 20 s");
  assertEquals(problem.includes("10077"), false);
  assertEquals(stage.events("log_refused").at(-1)?.reason, "10077 maximum bytes exceeded");
  const { length } = stage.events("log_refused");
  await stage.look(20, { disk: (second) => refused(20 + second) });
  assertEquals(stage.events("log_refused").length, length);
  assertEquals(stage.silences.clients, 0);
});

Deno.test("the memory's silence is told, and costs new clients and nothing else", async () => {
  const stage = new Stage();
  await stage.look(300, { memory: silent });
  assertEquals([stage.done, stage.tried, stage.silences.problem], [[], [], undefined]);
  assertStringIncludes(
    stage.silences.memoryProblem ?? "",
    "The relays' shared memory has not answered this relay",
  );
  assertEquals(stage.silences.clients > 3, true);
});

Deno.test("a refusal of the memory keeps nobody from leaving a node that is deaf, or from the end", async () => {
  const stage = new Stage();
  await stage.look(25, { disk: silent, memory: refused });
  assertEquals(stage.silences.clients, 3);
  await stage.look(16, { disk: (second) => silent(25 + second), memory: refused });
  assertEquals(stage.done.length, 2);
});

Deno.test("when both logs are silent the node is left as often as for one", async () => {
  const stage = new Stage();
  await stage.look(25, { disk: silent, memory: silent });
  assertEquals(stage.silences.clients, 3);
  assertEquals(stage.silences.memoryProblem, undefined);
});
