import { assert, assertEquals, assertMatch } from "@std/assert";
import { isTest, readSources } from "../../tools/source.ts";

const root = new URL("../../", import.meta.url);

function read(path: string): string {
  return Deno.readTextFileSync(new URL(path, root));
}

interface Config {
  readonly imports: Readonly<Record<string, string>>;
  readonly compilerOptions: Readonly<Record<string, unknown>>;
  readonly lock: { readonly frozen: boolean };
  readonly tasks: Readonly<Record<string, string>>;
}

/** Files that a user runs. */
const product = /^((proto|wasm|server|api|relay|sdk|cli|deploy)\/|start\.ts$)/;
const config: Config = JSON.parse(read("deno.json"));

Deno.test("CI calls exactly the README's test command", () => {
  const command = /npx -y deno@[\d.]+ task test/.exec(read("README.md"))?.[0];
  assert(command !== undefined);
  assertEquals(read(".ci/run").trimEnd().split("\n").at(-1), command);
});

for (const project of ["", "tools/npm/"]) {
  const { imports, lock }: Config = JSON.parse(read(`${project}deno.json`));

  Deno.test(`every dependency of ${project}deno.json is pinned to one exact version, from npm`, () => {
    for (const [name, target] of Object.entries(imports)) {
      if (target.startsWith("./")) continue;
      assertMatch(
        target,
        /^npm:(@[\w-]+\/)?[\w.-]+@\d+\.\d+\.\d+(-[\w.]+)?$/,
        `${name} is ${target}`,
      );
    }
  });

  Deno.test(`${project}deno.lock is frozen and knows every dependency`, () => {
    const { specifiers } = JSON.parse(read(`${project}deno.lock`));
    assert(lock.frozen);
    const missing = Object.values(imports).filter((target) =>
      target.startsWith("npm:") && !(target in specifiers)
    );
    assertEquals(missing, []);
  });
}

Deno.test("what deno task downloads is what the product imports; the rest is in tools/npm", async () => {
  const used = new Set<string>();
  for (const { path, text } of await readSources(root.pathname)) {
    if (isTest(path) || !product.test(path)) continue;
    for (const [, specifier = ""] of text.matchAll(/\bfrom "([^."][^"]*)"/g)) used.add(specifier);
  }
  const names = Object.entries(config.imports).filter(([, target]) => target.startsWith("npm:"))
    .map(([name]) => name);
  const unused = names.filter((name) =>
    ![...used].some((one) => one === name || one.startsWith(`${name}/`))
  );
  assertEquals(unused, []);
});

Deno.test("a program that has not every permission asks nobody for more: a question on a terminal is a hang", () => {
  const programs = [...Object.values(config.tasks), read("static")].flatMap((text) =>
    text.match(/\b(?:deno|set --) run .*/g) ?? []
  );
  const restricted = programs.filter((program) => !program.includes(" run -A "));
  assert(restricted.length >= 10, restricted.join("\n"));
  assertEquals(restricted.filter((program) => !/ run (--quiet )?--no-prompt /.test(program)), []);
});

Deno.test("the compiler is strict", () => {
  for (
    const flag of [
      "strict",
      "noUncheckedIndexedAccess",
      "exactOptionalPropertyTypes",
      "noImplicitOverride",
    ]
  ) {
    assertEquals(config.compilerOptions[flag], true, flag);
  }
});

Deno.test("no task but those for development runs with all permissions", () => {
  const development = [
    "test",
    "stress",
    "bench",
    "bench:api",
    "load",
    "build:npm",
    "build:python",
    "generate",
    "release",
  ];
  const open = Object.entries(config.tasks).filter(([, command]) =>
    /(^|\s)(-A|--allow-all)(\s|$)/.test(command)
  );
  assertEquals(open.map(([name]) => name).filter((name) => !development.includes(name)), []);
});
