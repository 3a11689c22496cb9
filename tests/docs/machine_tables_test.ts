/**
 * The tables of docs/channel_machine.md name the states that the machines have, all of them and no
 * others, and every event.
 */
import { assert, assertEquals } from "@std/assert";

interface Room {
  /** The heading under which the table is. */
  readonly heading: string;
  /** The first cell of its head. */
  readonly cell: string;
  /**
   * Below `sdk/channel`, and the unions whose variants are the table's rows: none, where the state
   * is no union.
   */
  readonly file: string;
  readonly types: readonly string[];
}

const rooms: readonly Room[] = [
  { heading: "## The root", cell: "variant", file: "root/root_state.ts", types: ["Root", "Over"] },
  {
    heading: "## Link: what this connection",
    cell: "variant",
    file: "connection/link_state.ts",
    types: ["Link"],
  },
  {
    heading: "## Reading the log",
    cell: "variant",
    file: "reading/reading_state.ts",
    types: ["Reading"],
  },
  {
    heading: "## Names: the channels",
    cell: "slot",
    file: "names/names_state.ts",
    types: ["Slot", "Erasing"],
  },
  { heading: "### Turns", cell: "turn", file: "names/names_state.ts", types: ["Turn"] },
  {
    heading: "### KeyPackages",
    cell: "refill",
    file: "names/key_package_state.ts",
    types: ["Refill"],
  },
  {
    heading: "## Our own commits",
    cell: "variant",
    file: "commits/own_commit_state.ts",
    types: ["OwnCommit"],
  },
  {
    heading: "## Departure",
    cell: "variant",
    file: "departure/departure_state.ts",
    types: ["Departure", "Going"],
  },
  { heading: "### Place", cell: "variant", file: "recovery/recovery_state.ts", types: ["Place"] },
  {
    heading: "### Foundings of ours",
    cell: "variant",
    file: "recovery/recovery_state.ts",
    types: ["Founding"],
  },
  {
    heading: "### Way back",
    cell: "step",
    file: "recovery/recovery_state.ts",
    types: ["BackStep"],
  },
  {
    heading: "### Key age",
    cell: "variant",
    file: "upkeep/key_age_state.ts",
    types: ["KeyChange"],
  },
  { heading: "### Duties", cell: "variant", file: "upkeep/duties_state.ts", types: ["Work"] },
  {
    heading: "### Confirmations",
    cell: "variant",
    file: "upkeep/confirmation_state.ts",
    types: ["Word"],
  },
  {
    heading: "## Messages on their way out",
    cell: "next",
    file: "messages/outbox_state.ts",
    types: ["Next"],
  },
  {
    heading: "## Messages on their way out",
    cell: "hold",
    file: "messages/outbox_state.ts",
    types: ["Hold"],
  },
  { heading: "## The order that was seen", cell: "event", file: "order/order_state.ts", types: [] },
  {
    heading: "## Messages for the program",
    cell: "event",
    file: "messages/inbox_state.ts",
    types: [],
  },
  {
    heading: "## Progress of the application",
    cell: "writing",
    file: "messages/position_state.ts",
    types: ["Writing"],
  },
  {
    heading: "## Receipts that are owed",
    cell: "telling",
    file: "messages/owed_receipts_state.ts",
    types: ["Telling"],
  },
];

/** In code, `going` holds the states that the table names. */
const holders: ReadonlySet<string> = new Set(["going"]);

const page = read("docs/channel_machine.md").split("\n");

function read(path: string): string {
  return Deno.readTextFileSync(new URL(`../../${path}`, import.meta.url));
}

function filesOf(folder: string): readonly string[] {
  const names = Array.from(
    Deno.readDirSync(new URL(`../../${folder}`, import.meta.url)),
    ({ name }) => name,
  );
  return names.filter((name) => !name.endsWith("_test.ts")).map((name) => `${folder}/${name}`);
}

/** Returns the rows of the first table behind a line, whose head begins with a cell. */
function rowsOf(from: number, cell: string): readonly string[] {
  const head = page.findIndex((line, at) => at > from && line.startsWith(`| ${cell} `));
  const end = page.findIndex((line, at) => at > head && !line.startsWith("|"));
  return page.slice(head + 2, end < 0 ? undefined : end);
}

function statesIn(cell: string | undefined): readonly string[] {
  return Array.from((cell ?? "").matchAll(/`([a-z_]+)`/g), ([, state = ""]) => state);
}

/** Returns the variants of a union, or of an interface that is one of them. */
function variantsOf({ file, types }: Room): readonly string[] {
  const code = read(`sdk/channel/${file}`);
  return types.flatMap((type) => {
    const [, body] =
      code.match(new RegExp(`^export (?:type|interface) ${type}\\b([^]*?)\n\n`, "m")) ?? [];
    assert(body !== undefined, `${file} has no ${type}`);
    return Array.from(body.matchAll(/\bat: "([a-z_]+)"/g), ([, state = ""]) => state);
  });
}

for (const room of rooms.filter(({ types }) => types.length > 0)) {
  Deno.test(`the table below "${room.heading}" has the states of ${room.types.join(" and ")}`, () => {
    const from = page.findIndex((line) => line.startsWith(room.heading));
    assert(from >= 0, "there is no such heading");
    const inPage = rowsOf(from, room.cell).flatMap((row) => statesIn(row.split("|")[1]));
    const inCode = variantsOf(room).filter((state) => !holders.has(state));
    assertEquals([...new Set(inPage)].sort(), [...new Set(inCode)].sort());
  });
}

Deno.test("a transition begins in what a machine knows by that name", () => {
  const folders = [...new Set(rooms.map(({ file }) => `sdk/channel/${file.split("/")[0]}`))];
  const code = folders.flatMap((folder) => filesOf(folder).map(read)).join("\n");
  const heads = page.flatMap((line, at) => /^\| event +\| in /.test(line) ? [at] : []);
  assert(heads.length > 3, "no table of transitions is found");
  const named = heads.flatMap((head) =>
    rowsOf(head - 1, "event").flatMap((row) => statesIn(row.split("|")[2]))
  );
  // The question to the log beside a founding of ours is a field.
  const unknown = named.filter((name) =>
    !new RegExp(`\\b${name}\\b`).test(code) && name !== "settle"
  );
  assertEquals(unknown, []);
});

/**
 * The events of a room, which the tables from one heading up to another name in their first cells.
 */
interface Events {
  readonly from: string;
  readonly to: string;
  readonly file: string;
  readonly type: string;
  /** Of these each row is one case: the name of a call, or of the question that is answered. */
  readonly cases?: readonly string[];
}

const events: readonly Events[] = [
  { from: "## Link", to: "## Reading", file: "connection/link_state.ts", type: "LinkEvent" },
  { from: "## Reading", to: "## Names", file: "reading/reading_state.ts", type: "ReadingEvent" },
  {
    from: "## Names",
    to: "### KeyPackages",
    file: "names/names_state.ts",
    type: "NamesEvent",
    cases: ["called", "answered"],
  },
  {
    from: "### KeyPackages",
    to: "## Our own",
    file: "names/key_package_state.ts",
    type: "KeyPackageEvent",
  },
  {
    from: "## Our own",
    to: "## Departure",
    file: "commits/own_commit_state.ts",
    type: "CommitEvent",
  },
  {
    from: "## Departure",
    to: "## Stopping",
    file: "departure/departure_state.ts",
    type: "DepartureEvent",
  },
  {
    from: "## Stopping",
    to: "## Upkeep",
    file: "recovery/recovery_state.ts",
    type: "RecoveryEvent",
  },
  { from: "### Key age", to: "### Duties", file: "upkeep/key_age_state.ts", type: "KeyAgeEvent" },
  {
    from: "### Duties",
    to: "### Confirmations",
    file: "upkeep/duties_state.ts",
    type: "DutyEvent",
  },
  {
    from: "### Confirmations",
    to: "## Messages on",
    file: "upkeep/confirmation_state.ts",
    type: "ConfirmationEvent",
  },
  {
    from: "## Messages on",
    to: "## The order",
    file: "messages/outbox_state.ts",
    type: "OutboxEvent",
  },
  { from: "## The order", to: "## Messages for", file: "order/order_state.ts", type: "OrderEvent" },
  {
    from: "## Messages for",
    to: "## Progress",
    file: "messages/inbox_state.ts",
    type: "InboxEvent",
  },
  {
    from: "## Progress",
    to: "## Receipts that",
    file: "messages/position_state.ts",
    type: "PositionEvent",
  },
  {
    from: "## Receipts that",
    to: "## Small worlds",
    file: "messages/owed_receipts_state.ts",
    type: "OwedEvent",
  },
];

for (const { from, to, file, type, cases = [] } of events) {
  Deno.test(`the tables below "${from}" have a row for every ${type}`, () => {
    const [begin, end] = [from, to].map((heading) =>
      page.findIndex((line) => line.startsWith(heading))
    );
    const cells = page.slice(begin, end).filter((line) => line.startsWith("|")).map((line) =>
      line.split("|")[1]
    );
    const [, body = ""] =
      read(`sdk/channel/${file}`).match(new RegExp(`^export type ${type}\\b([^]*?)\n\n`, "m")) ??
        [];
    const names = Array.from(
      body.matchAll(/\btype:\s((?:[\s|]*"[a-z_]+")+)/g),
      ([, union = ""]) => union,
    )
      .flatMap((union) => Array.from(union.matchAll(/[a-z_]+/g), ([name]) => name));
    assert(names.length > 3, `${file} has no ${type}`);
    const isNamed = (name: string): boolean => {
      const words = new RegExp(`\\b${name.replaceAll("_", " ")}\\b`, "i");
      return cells.some((cell) => words.test(cell ?? ""));
    };
    assertEquals(names.filter((name) => !isNamed(name)), [...cases]);
  });
}

const worlds = "tests/small_worlds";

Deno.test("the table of small worlds has all of them", () => {
  const from = page.findIndex((line) => line.startsWith("## Small worlds"));
  const inPage = rowsOf(from, "real machines").flatMap((row) =>
    Array.from(row.matchAll(/`([a-z_]+\.ts)`/g), ([, name]) => `${worlds}/${name}`)
  );
  // `…_world.ts` is what several of them share.
  const made = filesOf(worlds).filter((path) =>
    /^(?:export function .*)?\): World</m.test(read(path))
  );
  const inCode = made.filter((path) => !path.endsWith("_world.ts"));
  assertEquals(inPage.sort(), inCode.sort());
});

Deno.test("the table of promises has each that a world may name as broken", () => {
  const from = page.findIndex((line) => line.startsWith("## Small worlds"));
  const inPage = rowsOf(from, "promise").map((row) => row.split("|")[1]?.trim());
  const code = filesOf(worlds).map(read).join("\n");
  const inCode = new Set(Array.from(code.matchAll(/["`]([SL]\d): /g), ([, promise]) => promise));
  assertEquals(inPage.sort(), [...inCode].sort());
});
