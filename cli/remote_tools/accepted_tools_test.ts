import { assert, assertEquals } from "@std/assert";
import { files } from "../platform/files.ts";
import { AcceptedTools, screenTools } from "./accepted_tools.ts";

const schema = { type: "object", properties: {} };

function tool(given: object): object {
  return { name: "add", description: "Adds", inputSchema: schema, ...given };
}

Deno.test("screenTools() keeps tools that a model can call, and counts the others", () => {
  const wrong = [
    tool({ name: "a b" }),
    tool({ name: "" }),
    tool({ name: "x".repeat(45) }),
    tool({ name: "gr\u00fc\u00df" }),
    tool({ name: 7 }),
    tool({ description: 7 }),
    tool({ inputSchema: undefined }),
    tool({ inputSchema: { type: "array" } }),
    tool({ inputSchema: { ...schema, x: "y".repeat(20_000) } }),
    null,
    [],
    "add",
  ];
  const { tools, leftOut } = screenTools({ tools: [tool({}), tool({}), ...wrong] });
  assertEquals(tools, [{
    name: "add",
    description: "Adds",
    inputSchema: schema,
    version: undefined,
  }]);
  assertEquals(leftOut, wrong.length + 1);
  for (const tools of [undefined, null, {}, "x"]) {
    assertEquals(screenTools({ tools }), { tools: [], leftOut: 0 });
  }
});

Deno.test("screenTools() bounds what a model reads: one tool, their number, all of them", () => {
  const [long] = screenTools({ tools: [tool({ description: "\u202ex".repeat(1e6) })] }).tools;
  assert(long !== undefined && long.description.length <= 1024);
  assert(long.description.includes("\\u{202e}") && !long.description.includes("\u202e"));
  const many = Array.from({ length: 1000 }, (_, at) => tool({ name: `t${at}` }));
  assertEquals(screenTools({ tools: many }).tools.length, 64);
  const large = many.map((each) => ({
    ...each,
    inputSchema: { ...schema, title: "y".repeat(9e3) },
  }));
  assert(JSON.stringify(screenTools({ tools: large }).tools).length <= 64 * 1024 + 1000);
});

Deno.test("screenTools() leaves no way out of a schema, and names of arguments as they are", () => {
  const inputSchema = {
    $id: "https://evil.example/",
    $schema: "https://evil.example/",
    type: "object",
    properties: {
      pattern: { type: "string", pattern: "(a+)+$", description: "see\u200b" },
      here: { $ref: "#/$defs/pattern" },
      there: { $ref: "https://evil.example/schema" },
    },
    $defs: { pattern: { type: "number", $dynamicRef: "//evil.example" } },
    patternProperties: { "(a+)+$": {} },
  };
  assertEquals(screenTools({ tools: [tool({ inputSchema })] }).tools[0]?.inputSchema, {
    type: "object",
    properties: {
      pattern: { type: "string", description: "see\\u{200b}" },
      here: { $ref: "#/$defs/pattern" },
      there: {},
    },
    $defs: { pattern: { type: "number" } },
  });
});

Deno.test("accepted tools are kept by agent and channel, and a file that was changed is screened", async () => {
  const folder = await Deno.makeTempDir({ prefix: "static-tools-" });
  try {
    const accepted = new AcceptedTools(files, folder);
    const { tools } = screenTools({ tools: [tool({ _meta: { "static/version": "7" } })] });
    assertEquals(await accepted.read("acme/a/a", "x"), undefined);
    await accepted.write("acme/a/a", "x", tools);
    await accepted.write("acme/b/b", "x", []);
    assertEquals(await accepted.read("acme/a/a", "x"), tools);
    assertEquals([tools[0]?.version, await accepted.read("acme/b/b", "x")], ["7", []]);
    assertEquals(await accepted.read("acme/a/a", "y"), undefined);
    const path = `${folder}/tools/x.json`;
    assertEquals(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
    const evil = [{ ...tools[0], description: "\u202e", name: "add" }, { name: "a b" }];
    await Deno.writeTextFile(path, JSON.stringify({ "acme/a/a": evil }));
    assertEquals((await accepted.read("acme/a/a", "x"))?.map(({ description }) => description), [
      "\\u{202e}",
    ]);
    for (const text of ["", "[", "[]", "7", '{"acme/a/a":7}']) {
      await Deno.writeTextFile(path, text);
      assertEquals(await accepted.read("acme/a/a", "x"), undefined, text);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
