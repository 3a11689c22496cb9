/**
 * kill -9 at each write of a period's end, and of the next one, with which the store opens: nothing
 * that was acknowledged is lost, and the next opening forgets the rest.
 */
import { assert, assertEquals, assertGreater } from "@std/assert";
import { openDirectoryStore } from "../../sdk/platform/directory_store.ts";
import { createProject } from "../../tools/bundle.ts";
import { inCampaign, tried } from "../support/campaign.ts";
import { testWhen } from "../support/mod.ts";
import { node } from "../support/runtime/node.ts";
import { openAll, stealStore } from "../support/stolen_store.ts";
import {
  batchesBefore,
  type Moment,
  moments,
  numberIn,
  recordOf,
  secretKind,
  type WhichEnd,
} from "./period_moments.ts";

const writer = new URL("period_writer.ts", import.meta.url);
const few: readonly Moment[] = [
  "behind the new secret",
  "behind the list",
  "in the middle of the old secret",
];
const rounds = inCampaign ? 10 : 1;

type Command = readonly [program: string, ...args: string[]];

interface Death {
  readonly moment: Moment;
  readonly of: WhichEnd;
  readonly folder: string;
  readonly first: number;
}

/** Returns the number of the last batch that was acknowledged; 0 when there was none. */
async function die(
  [program, ...args]: Command,
  { moment, of, folder, first }: Death,
): Promise<number> {
  const command = new Deno.Command(program, {
    args: [...args, folder, String(first), moment, of],
    stderr: "inherit",
  });
  const { stdout, signal } = await command.output();
  assertEquals(signal, "SIGKILL", `${moment}, ${of}`);
  return Math.max(...new TextDecoder().decode(stdout).trim().split("\n").map(Number));
}

/** Numbers of the batches whose records of secret kinds a thief reads. */
async function stolenFrom(folder: string): Promise<number[]> {
  const { opened } = openAll(await stealStore(folder));
  return opened.filter(({ isSecret }) => isSecret).map(({ value }) => numberIn(value));
}

async function killAtEach(wanted: readonly Moment[], command: Command): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "static-period-" });
  try {
    let first = 1;
    for (let round = 0; round < rounds; round++) {
      for (const moment of wanted) {
        const acknowledged = await die(command, { moment, of: "of time", folder, first });
        const where = `${moment}, from ${first}, acknowledged ${acknowledged}`;
        assertGreater(acknowledged, first + batchesBefore - 2, where);
        const stolen = await stolenFrom(folder);
        const isOver = moment === "behind the old secret" ||
          moment === "in the middle of the old secret";
        if (isOver) assert(!stolen.includes(first + 1), `${where}: the old secret is gone`);
        else assert(stolen.includes(first + 1), `${where}: a control, the thief knows the format`);
        assertEquals(await die(command, { moment, of: "of opening", folder, first }), 0, where);
        const store = await openDirectoryStore(folder);
        const records = new Map(
          (await store.list(secretKind)).map(({ id, value }) => [id, numberIn(value)]),
        );
        assertEquals(records.get("rests"), first, where);
        for (let number = acknowledged; number > acknowledged - 4; number--) {
          const found = records.get(recordOf(number)) ?? 0;
          assert(found >= number, `${where}: record of ${number} is of ${found}`);
        }
        const live = [...records.values()].sort();
        assertEquals(
          [...new Set(await stolenFrom(folder))].sort(),
          [...new Set(live)].sort(),
          where,
        );
        await store.close();
        first = Math.max(...live) + 1;
      }
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
  tried(`${2 * rounds * wanted.length} kills at the end of a period`);
}

Deno.test("after kill -9 at a write of a period's end nothing is lost, and the next opening forgets", async () => {
  await killAtEach(inCampaign ? moments : few, [
    Deno.execPath(),
    "run",
    "-A",
    "--no-check",
    writer.pathname,
  ]);
});

if (inCampaign) {
  testWhen(node, "the same in Node", async () => {
    await using project = await createProject();
    await killAtEach(moments, ["node", await project.bundle(writer, "node")]);
  });
}
