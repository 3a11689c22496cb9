import { assert, assertEquals } from "@std/assert";
import { createSourceFile } from "./source.ts";
import { tidy } from "./tidy.ts";

const doc = "/** Its purpose. */\n";

function rulesBroken(path: string, text: string): string[] {
  return tidy(createSourceFile(path, text)).map(({ rule }) => rule);
}

const wide = "wide ".repeat(40);

const violations: readonly [rule: string, path: string, text: string][] = [
  ["name", "proto/cellReader.ts", doc],
  ["name", "relay/utils.ts", doc],
  ["doc", "proto/wire/cell.ts", "export const a = 1;\n"],
  ["columns", "proto/wire/cell.ts", `${doc}/** ${wide}*/\nconst a = 1;\n`],
  ["columns", "proto/wire/cell.ts", `/**\n * Its purpose.\n * ${wide}\n */\n`],
  ["columns", "proto/wire/cell_test.ts", `const a = 1; // ${wide}\n`],
  ["columns", "sdk/python/a.py", `"""Its purpose."""\n\n# ${wide}\n`],
  ["cast", "proto/wire/cell.ts", `${doc}const a = b as string;\n`],
  ["cast", "proto/wire/cell.ts", `${doc}const a = b as unknown[];\n`],
  ["suppress", "proto/wire/cell.ts", `${doc}// @ts-${"ignore"}\nconst a = 1;\n`],
  ["focus", "proto/wire/cell_test.ts", 'Deno.test.only("a", () => {});\n'],
  ["focus", "proto/wire/cell_test.ts", 'Deno.test({ name: "a", ignore: true, fn });\n'],
  [
    "sleep",
    "proto/wire/cell_test.ts",
    "await new Promise((resolve) => setTimeout(resolve, 100));\n",
  ],
  ["wait", "relay/a.ts", `${doc}const a = await fetch(url, { redirect: "manual" });\n`],
  ["wait", "deploy/local/a.ts", `${doc}const a = await fetch(url, { redirect: "manual" });\n`],
  ["wait", "start.ts", `${doc}const a = await fetch(url, { redirect: "manual" });\n`],
  ["wait", "api/a.ts", `${doc}const a = await Deno.connect({ hostname, port });\n`],
  ["wait", "relay/a.ts", `${doc}await jetstream.publish(subject, bytes, { retries: 1 });\n`],
  ["wait", "relay/a.ts", `${doc}await connection.request(subject, bytes);\n`],
  ["wait", "relay/a.ts", `${doc}const a = jetstream(connection);\n`],
  ["wait", "relay/a.ts", `${doc}await connection.flush();\n`],
  ["wait", "api/a.ts", `${doc}const a = new Worker(url, { type: "module" });\n`],
  ["wait", "api/a.ts", `${doc}await new Promise(() => {});\n`],
  [
    "wait",
    "api/a.ts",
    `${doc}const a = await fetch(url, { signal: AbortSignal.timeout(3_000) });\n`,
  ],
  ["wait", "relay/a.ts", `${doc}const ms = 3_000;\nawait within(ms, work);\n`],
  [
    "wait",
    "relay/a.ts",
    `${doc}const ms = 3_000;\nconst a = jetstream(connection, { timeout: ms });\n`,
  ],
  ["machine_wait", "sdk/channel/connection/a.ts", `${doc}export async function a(): void {}\n`],
  [
    "machine_wait",
    "sdk/channel/connection/deep/a.ts",
    `${doc}export const a = (): Promise<void> => b;\n`,
  ],
  ["machine_wait", "sdk/channel/connection/a.ts", `${doc}setTimeout(a, 5);\n`],
  ["machine_wait", "sdk/channel/names/a.ts", `${doc}await a();\n`],
  ["machine_wait", "sdk/channel/recovery/a.ts", `${doc}setTimeout(a, 5);\n`],
  ["permit", "sdk/channel/a.ts", `${doc}// cast: none\nconst a = { number: 1 } as Permit;\n`],
  ["permit", "tests/a_test.ts", "const a = { number: 1 } as Permit;\n"],
  ["unfinished", "proto/wire/cell.ts", `${doc}// TO${"DO"}: later\n`],
  ["fragment", "relay/a.ts", `${doc}/** Of each account. */\nexport const a = 1;\n`],
  ["prose", "proto/a.ts", `${doc}/** Who owns nothing removes nobody. */\nexport const a = 1;\n`],
  ["prose", "server/a.ts", `/**\n * Whose turn it is.\n */\nexport const a = 1;\n`],
  ["prose", "api/a.ts", `${doc}// Kept for whoever asks.\nexport const a = 1;\n`],
  ["prose", "cli/a.ts", `${doc}/** Looks. Answers whether it did. */\nexport const a = 1;\n`],
  [
    "prose",
    "sdk/python/a.py",
    `"""Its purpose."""\n\n\ndef a() -> None:\n    """What is left."""\n`,
  ],
  ["prose", "tests/a_test.ts", "/** Who waits. */\nexport const a = 1;\n"],
  ["prose", "tests/a_test.ts", "/** Looks. What is left stays. */\nexport const a = 1;\n"],
  ["machine", "docs/protocol.md", `see /wo${"rk"}/main\n`],
  ["machine", "tools/fetch.ts", `${doc}const host = "deb.deb${"ian"}.org";\n`],
  ["machine", "tools/fetch/sources.ts", `${doc}const folder = "/ro${"ot"}/.cache";\n`],
];

for (const [rule, path, text] of violations) {
  Deno.test(`tidy reports "${rule}" for ${path}: ${text.trimEnd().split("\n").at(-1)?.slice(0, 60)}`, () => {
    assertEquals(rulesBroken(path, text), [rule]);
  });
}

const accepted: readonly [path: string, text: string][] = [
  ["sdk/channel/connection/runner/a.ts", `${doc}export async function a(): Promise<void> {}\n`],
  ["sdk/channel/connection/a_test.ts", "Deno.test(name, async () => await b());\n"],
  [
    "sdk/channel/connection/judge_connection.ts",
    `${doc}// cast: the one place\nconst a = { number: 1 } as Permit;\n`,
  ],
  ["tools/fetch/sources.ts", `${doc}const host = "deb.deb${"ian"}.org";\n`],
  ["proto/wire/cell.ts", `${doc}const a = b as string; // cast: checked above\n`],
  [
    "relay/a.ts",
    `${doc}const a = await fetch(url, { signal: AbortSignal.timeout(waits.apiAnswer.ms) });\n`,
  ],
  ["relay/a.ts", `${doc}await within(waits.nodeAnswer.ms, nodes.connection.flush());\n`],
  ["api/a.ts", `${doc}// limit: command\nconst a = new Worker(url, { type: "module" });\n`],
  ["relay/a.ts", `${doc}await router.fetch(request);\n`],
  ["sdk/a.ts", `${doc}await fetch(url);\n`],
  ["relay/a_test.ts", "await fetch(url);\n"],
  ["proto/wire/cell.ts", `${doc}const words = ["a"] as const;\n`],
  ["proto/wire/cell.ts", `${doc}import { a as b } from "./a.ts";\n`],
  ["proto/wire/cell.ts", `${doc}${"// Its reason.\n".repeat(1_000)}const a = 1;\n`],
  ["proto/wire/cell.ts", `${doc}const a = "${wide}";\n`],
  ["proto/wire/cell.ts", `/**\n * \`\`\`ts\n * ${wide}\n * \`\`\`\n */\n`],
  ["proto/wire/cell.ts", `/**\n * Its bytes.\n *\n *   ${wide}\n */\n`],
  ["proto/wire/cell.ts", `${doc}// https://${"a".repeat(200)}\nconst a = 1;\n`],
  [
    "proto/wire/cell_test.ts",
    "// wait: the peer's timer\nawait new Promise((resolve) => setTimeout(resolve, 1));\n",
  ],
];

for (const [path, text] of accepted) {
  Deno.test(`tidy accepts ${path}: ${text.trimEnd().split("\n").at(-1)?.slice(0, 60)}`, () => {
    assertEquals(rulesBroken(path, text), []);
  });
}

Deno.test("the project's own sources are read", async () => {
  const { readSources } = await import("./source.ts");
  assert((await readSources(".")).some(({ path }) => path === "tools/tidy.ts"));
});
