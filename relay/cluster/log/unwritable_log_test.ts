// A log that can be read and takes nothing: a new process could write to it no more than this one,
// so every relay stays.
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { eventually } from "../../../tests/support/eventually.ts";
import { natsInstalled, startNats } from "../../../tests/support/nats.ts";
import { testWhen } from "../../../tests/support/requirement.ts";
import { createChannel } from "../../engine/testing/sample.ts";
import { type Nodes, openNodes } from "../nodes/nodes.ts";
import { logNames, SharedLog } from "./shared_log.ts";
import { freshPrefix, type OpenCluster, openTestCluster } from "../testing/open_test_cluster.ts";
import { sharedUrls } from "../testing/shared_nats.ts";

const silenceLimits = {
  clientMs: 1_000,
  readyMs: 1_000,
  awayMs: 2_000,
  endMs: 2_000,
  probePauseMs: 500,
};
const access = { urls: sharedUrls, isTls: false, monitorUrls: [] };

/** Two relays, and a stream of theirs whose subject is taken from it and given back. */
class Stage implements AsyncDisposable {
  readonly prefix = freshPrefix();
  /** Why relays have ended. */
  readonly ended: string[] = [];
  /** Told by relays in their logs. */
  readonly events: string[] = [];
  readonly #nodes: Nodes;
  relays: readonly OpenCluster[] = [];

  private constructor(nodes: Nodes) {
    this.#nodes = nodes;
  }

  static async open(): Promise<Stage> {
    const stage = new Stage(await openNodes({ ...access, name: "test" }));
    const { prefix } = stage;
    const onFailed = ({ message }: Error): void => void stage.ended.push(message);
    const log = (_level: string, event: string): void => void stage.events.push(event);
    const names = ["relay-1", "relay-2"];
    stage.relays = await Promise.all(
      names.map((relay) =>
        openTestCluster({ ...access, prefix, relay, silenceLimits, log, onFailed })
      ),
    );
    return stage;
  }

  async listenAt(stream: string, subject: string): Promise<void> {
    const { config } = await this.#nodes.manager.streams.info(stream);
    const republish = { src: subject, dest: `${subject}_tail` };
    await this.#nodes.manager.streams.update(stream, { ...config, subjects: [subject], republish });
  }

  /** Waits until both relays say what is looked for, and none has ended. */
  async untilSaid(say: (relay: OpenCluster) => string | undefined, wanted: RegExp): Promise<void> {
    const all = (): Promise<string[]> =>
      Promise.resolve(this.relays.map((relay) => say(relay) ?? ""));
    const isOver = (said: readonly string[]): boolean =>
      this.ended.length > 0 || said.every((words) => wanted.test(words));
    await eventually({ what: String(wanted) }, all, isOver);
    assertEquals(this.ended, []);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { engine } of this.relays) await engine.close();
    await this.#nodes.close();
  }
}

testWhen(
  natsInstalled,
  "relays whose log can be read and takes nobody's entries stay, say so, and go on",
  async () => {
    await using stage = await Stage.open();
    const { name, subject } = logNames(stage.prefix);
    await stage.listenAt(name, `${stage.prefix}.elsewhere`);
    const written = stage.relays.map(({ engine }, index) =>
      createChannel(engine, index + 1).catch(() => {})
    );
    await stage.untilSaid(({ silences }) => silences.problem, /its nodes take nobody's entries/);
    await stage.listenAt(name, subject);
    await Promise.all(written);
    await stage.untilSaid(({ silences }) => silences.problem, /^$/);
    for (const [index, { engine }] of stage.relays.entries()) {
      await createChannel(engine, index + 11);
    }
  },
);

testWhen(
  natsInstalled,
  "relays whose nodes' memory takes nothing stay and keep their agents, and say so",
  async () => {
    await using stage = await Stage.open();
    const stream = `${stage.prefix}_LIVE`;
    await stage.listenAt(stream, `${stage.prefix}.elsewhere`);
    // Longer than a relay may be silent to its log.
    await stage.untilSaid(
      ({ silences }) => silences.memoryProblem,
      /^The relays' shared memory has not answered this relay for ([6-9]|\d\d) s/,
    );
    assertEquals(stage.relays.map(({ silences }) => silences.problem), [undefined, undefined]);
    for (const [index, { engine }] of stage.relays.entries()) {
      await createChannel(engine, index + 1);
    }
    await stage.listenAt(stream, `${stage.prefix}.live`);
    await stage.untilSaid(({ silences }) => silences.memoryProblem, /^$/);
    assert(!stage.events.includes("log_silent"), "agents were sent away");
  },
);

const denied = `accounts {
  RELAYS {
    jetstream: enabled
    users: [{ user: relay, password: relay, permissions: { publish: { deny: "denied.log" } } }]
  }
}
no_auth_user: relay`;

testWhen(
  natsInstalled,
  "nodes that do not let a relay write have refused, and are not silent",
  async () => {
    await using nats = await startNats({ nodes: 1, plain: true, settings: denied });
    const nodes = await openNodes({ ...nats.access, name: "test" });
    const options = { nodes, ...logNames("denied"), storage: "file", replicas: 1 } as const;
    const shared = new SharedLog({ ...options, onEntry: () => {}, onHole: () => {} });
    await shared.create();
    const error = await shared.publish(new Uint8Array(1)).then(() => undefined, (reason) => reason);
    assert(error instanceof Error);
    assertStringIncludes(shared.refusal ?? "", "Permissions Violation");
    // The client itself does not send more than its node takes, and another node may take it.
    const tooLarge = await shared.publish(new Uint8Array(9 * 1024 * 1024)).then(
      () => undefined,
      (reason) => reason,
    );
    assert(tooLarge instanceof Error);
    assertEquals(shared.refusal, undefined);
    await nodes.close();
  },
);
