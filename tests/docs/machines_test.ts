/**
 * The rooms of a channel are documented where they are: each state and each event has a sentence
 * beside it, and `sdk/channel/README.md` names every room, world and promise.
 */
import { assert, assertEquals } from "@std/assert";

const repository = new URL("../../", import.meta.url);
const page = read("sdk/channel/README.md").split("\n");
const rooms = Array.from(Deno.readDirSync(new URL("sdk/channel/", repository)))
  .filter(({ isDirectory }) => isDirectory)
  .flatMap(({ name }) => filesOf(`sdk/channel/${name}`))
  .filter((path) => path.endsWith("_state.ts"));

function read(path: string): string {
  return Deno.readTextFileSync(new URL(path, repository));
}

function filesOf(folder: string): readonly string[] {
  const names = Array.from(Deno.readDirSync(new URL(folder, repository)), ({ name }) => name);
  return names.filter((name) => !name.endsWith("_test.ts")).map((name) => `${folder}/${name}`);
}

/** Returns the rows of the first table whose head begins with a cell. */
function rowsOf(cell: string): readonly string[] {
  const head = page.findIndex((line) => line.startsWith(`| ${cell} `));
  assert(head >= 0, `no table begins with "${cell}"`);
  const end = page.findIndex((line, at) => at > head && !line.startsWith("|"));
  return page.slice(head + 2, end < 0 ? undefined : end);
}

interface Variant {
  readonly type: string;
  /** Its first lines, for the report. */
  readonly text: string;
  /** The line before it. */
  readonly before: string;
}

/** Returns the variants of each union that says where a machine is, or what can happen to it. */
function variantsOf(code: string): readonly Variant[] {
  const unions = Array.from(
    code.matchAll(/^export type (\w+)(?:<[^=\n]*>)? =\n([^]*?;)\n(?:\n|$)/gm),
  );
  return unions.filter(([, type = "", body = ""]) =>
    type.endsWith("Event") || /\breadonly at: "/.test(body)
  ).flatMap(([, type = "", body = ""]) => {
    const lines = body.split("\n");
    return lines.flatMap((line, at) =>
      line.startsWith("  | ") ? [{ type, text: line.trim(), before: lines[at - 1] ?? "" }] : []
    );
  });
}

/** Whether an interface that is a variant by its name has its comment where it is declared. */
function isDescribed(code: string, name: string): boolean {
  return new RegExp(`\\.(?: \\*/|\\n \\*/)\nexport interface ${name}\\b`).test(code);
}

Deno.test("every state and every event of a room has a sentence", () => {
  const silent = rooms.flatMap((path) => {
    const code = read(path);
    const variants = variantsOf(code);
    // A union that is written in another way must not be passed over.
    const paragraphs = code.split("\n\n").map((text) => text.replace(/\/\*\*[^]*?\*\//g, ""));
    const unions = paragraphs.flatMap((text) => {
      const [, type = ""] = /^\s*export type (\w+)/.exec(text) ?? [];
      return type.endsWith("Event") || (type !== "" && text.includes('readonly at: "'))
        ? [type]
        : [];
    });
    assertEquals([...new Set(variants.map(({ type }) => type))], unions, path);
    return variants.filter(({ text, before }) => {
      const name = /^\| (\w+);?$/.exec(text)?.[1];
      return name === undefined ? !before.trim().endsWith("*/") : !isDescribed(code, name);
    }).map(({ type, text }) => `${path}: ${type} ${text}`);
  });
  assertEquals(silent, []);
});

Deno.test("every room has its events", () => {
  const without = rooms.filter((path) =>
    !variantsOf(read(path)).some(({ type }) => type.endsWith("Event"))
  );
  assertEquals(without, []);
});

Deno.test("the page of the machine has all rooms, and no others", () => {
  const named = rowsOf("state").flatMap((row) =>
    Array.from(row.matchAll(/`([\w/]+_state\.ts)`/g), ([, path]) => `sdk/channel/${path}`)
  );
  assertEquals(named.sort(), [...rooms].sort());
});

const worlds = "tests/small_worlds";

Deno.test("the page of the machine has all small worlds", () => {
  const inPage = rowsOf("real machines").flatMap((row) =>
    Array.from(row.matchAll(/`([a-z_]+\.ts)`/g), ([, name]) => `${worlds}/${name}`)
  );
  // `…_world.ts` is what several of them share.
  const made = filesOf(worlds).filter((path) =>
    /^(?:export function .*)?\): World</m.test(read(path))
  );
  const inCode = made.filter((path) => !path.endsWith("_world.ts"));
  assertEquals(inPage.sort(), inCode.sort());
});

Deno.test("the page of the machine has each promise that a world may name as broken", () => {
  const inPage = rowsOf("promise").map((row) => row.split("|")[1]?.trim());
  const code = filesOf(worlds).map(read).join("\n");
  const inCode = new Set(Array.from(code.matchAll(/["`]([SL]\d): /g), ([, promise]) => promise));
  assertEquals(inPage.sort(), [...inCode].sort());
});
