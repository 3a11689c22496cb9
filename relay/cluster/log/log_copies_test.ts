// Copies of the fold at the nodes: a relay that is late does not replace a newer one, and nothing
// of a failed attempt stays.
import { assertEquals, assertRejects } from "@std/assert";
import {
  jetstream,
  type JetStreamClient,
  type JetStreamManager,
  jetstreamManager,
} from "@nats-io/jetstream";
import { connectToNodes } from "../nodes/node_connection.ts";
import { natsInstalled } from "../../../tests/support/nats.ts";
import { testWhen } from "../../../tests/support/requirement.ts";
import { LogCopies } from "./log_copies.ts";
import { freshPrefix } from "../testing/open_test_cluster.ts";
import { sharedUrls } from "../testing/shared_nats.ts";

interface Stage {
  readonly folder: string;
  readonly manager: JetStreamManager;
  /**
   * A relay's view. `beforeHead` runs when everything but the head is there, `beforeSecond` when
   * one part of a copy is.
   */
  relay(beforeHead?: () => Promise<unknown>, beforeSecond?: () => Promise<unknown>): LogCopies;
  file(content: string): Promise<string>;
  /** Everything that the nodes have of copies. */
  subjects(): Promise<string[]>;
}

function testCopies(name: string, run: (stage: Stage) => Promise<void>): void {
  testWhen(natsInstalled, name, async () => {
    const prefix = freshPrefix();
    const folder = await Deno.makeTempDir({ prefix: "static-copies-" });
    const connection = await connectToNodes({ servers: [...sharedUrls] });
    const [client, manager] = [jetstream(connection), await jetstreamManager(connection)];
    let files = 0;
    const file = async (content: string): Promise<string> => {
      const path = `${folder}/file-${files++}`;
      await Deno.writeTextFile(path, content);
      return path;
    };
    const subjects = async (): Promise<string[]> => {
      const { state } = await manager.streams.info(`${prefix}_COPY`, { subjects_filter: ">" });
      const own = Object.keys(state.subjects ?? {}).map((subject) =>
        subject.replace(prefix, "test")
      );
      return own.map((subject) => subject.replace(/-.*\./, ".")).sort();
    };
    const relay: Stage["relay"] = (...before) =>
      new LogCopies({
        nodes: { jetstream: interrupted(client, ...before), manager },
        prefix,
        replicas: 1,
      });
    try {
      await relay().create();
      await run({ folder, manager, relay, file, subjects });
    } finally {
      await connection.close();
      await Deno.remove(folder, { recursive: true });
    }
  });
}

/** As a process that is frozen for a while, or killed. */
function interrupted(
  client: JetStreamClient,
  ...[beforeHead, beforeSecond]: Parameters<Stage["relay"]>
): JetStreamClient {
  const publish: JetStreamClient["publish"] = async (subject, ...rest) => {
    if (subject.endsWith(".copy.head")) await beforeHead?.();
    if (subject.endsWith(".1")) await beforeSecond?.();
    return await client.publish(subject, ...rest);
  };
  return { publish } as JetStreamClient; // cast: copies use nothing else of it
}

async function contentOf(copies: LogCopies, folder: string): Promise<[number, string]> {
  const head = await copies.newest();
  if (head === undefined) return [0, ""];
  const path = `${folder}/${crypto.randomUUID()}`;
  await copies.load(head, path);
  return [head.position, await Deno.readTextFile(path)];
}

testCopies(
  "a relay that was frozen while it saved a copy does not bring it back",
  async (stage) => {
    const { relay, file, folder, subjects } = stage;
    assertEquals(await relay().save(await file("ten"), 10), 0);
    const others = async (): Promise<void> => {
      assertEquals(await relay().save(await file("thirty"), 30), 10);
      assertEquals(await relay().save(await file("forty"), 40), 30);
    };
    const late = relay(others).save(await file("twenty"), 20);
    await assertRejects(() => late, Error, "wrong last sequence");
    assertEquals(await contentOf(relay(), folder), [40, "forty"]);
    assertEquals(await subjects(), ["test.copy.30.0", "test.copy.40.0", "test.copy.head"]);
  },
);

testCopies(
  "what a relay left that was killed while it saved a copy is deleted with the next one",
  async (stage) => {
    const { relay, file, folder, subjects } = stage;
    await relay().save(await file("ten"), 10);
    const killed = relay(() => Promise.reject(new Error("killed"))).save(await file("twenty"), 20);
    await assertRejects(() => killed, Error, "killed");
    assertEquals(await subjects(), ["test.copy.10.0", "test.copy.20.0", "test.copy.head"]);
    assertEquals(await relay().save(await file("thirty"), 30), 10);
    assertEquals(await subjects(), ["test.copy.10.0", "test.copy.30.0", "test.copy.head"]);
    assertEquals(await contentOf(relay(), folder), [30, "thirty"]);
  },
);

testCopies(
  "copies of two relays at the same position do not mix",
  async ({ relay, file, folder }) => {
    const other = async (): Promise<unknown> => await relay().save(await file("another one"), 10);
    await assertRejects(
      async () => await relay(other).save(await file("one"), 10),
      Error,
      "wrong last sequence",
    );
    assertEquals(await contentOf(relay(), folder), [10, "another one"]);
  },
);

testCopies(
  "a relay that is late before it begins to save does not replace a newer copy",
  async (stage) => {
    const { relay, file, folder, subjects } = stage;
    await relay().save(await file("ten"), 10);
    await relay().save(await file("forty"), 40);
    for (const position of [20, 40]) {
      await assertRejects(
        async () => await relay().save(await file("late"), position),
        Error,
        "is late",
      );
    }
    assertEquals(await contentOf(relay(), folder), [40, "forty"]);
    assertEquals(await subjects(), ["test.copy.10.0", "test.copy.40.0", "test.copy.head"]);
  },
);

testCopies(
  "no part stays of a copy that is overtaken between two of them",
  async ({ relay, file, subjects }) => {
    const twoParts = await file("x".repeat(1024 * 1024 + 1));
    await relay().save(await file("ten"), 10);
    const overtaken = relay(undefined, async () => await relay().save(await file("thirty"), 30));
    await assertRejects(() => overtaken.save(twoParts, 20), Error, "wrong last sequence");
    assertEquals(await subjects(), ["test.copy.10.0", "test.copy.30.0", "test.copy.head"]);
  },
);

testCopies(
  "parts without the first one are deleted with the next copy",
  async ({ relay, file, subjects }) => {
    const twoParts = await file("x".repeat(1024 * 1024 + 1));
    const killed = relay(
      () => Promise.reject(new Error("killed")),
      async () => await relay().save(await file("thirty"), 30),
    );
    await assertRejects(() => killed.save(twoParts, 20), Error, "killed");
    assertEquals(await subjects(), ["test.copy.20.1", "test.copy.30.0", "test.copy.head"]);
    await relay().save(await file("forty"), 40);
    assertEquals(await subjects(), ["test.copy.30.0", "test.copy.40.0", "test.copy.head"]);
  },
);
