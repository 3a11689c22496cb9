import { assert, assertEquals, assertMatch } from "@std/assert";

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

const config: Config = JSON.parse(read("deno.json"));

Deno.test("CI calls exactly the README's test command", () => {
  const command = /npx -y deno@[\d.]+ task test/.exec(read("README.md"))?.[0];
  assert(command !== undefined);
  assertEquals(read(".ci/run").trimEnd().split("\n").at(-1), command);
});

Deno.test("every dependency is pinned to one exact version, from npm", () => {
  for (const [name, target] of Object.entries(config.imports)) {
    if (target.startsWith("./")) continue;
    assertMatch(target, /^npm:(@[\w-]+\/)?[\w.-]+@\d+\.\d+\.\d+(-[\w.]+)?$/, `${name} is ${target}`);
  }
});

Deno.test("the lock file is frozen and knows every dependency", () => {
  const { specifiers } = JSON.parse(read("deno.lock"));
  assert(config.lock.frozen);
  const missing = Object.values(config.imports).filter((target) =>
    target.startsWith("npm:") && !(target in specifiers)
  );
  assertEquals(missing, []);
});

Deno.test("the compiler is strict", () => {
  for (const flag of ["strict", "noUncheckedIndexedAccess", "exactOptionalPropertyTypes", "noImplicitOverride"]) {
    assertEquals(config.compilerOptions[flag], true, flag);
  }
});

Deno.test("no task but those for development runs with all permissions", () => {
  const development = ["test", "stress", "bench", "bench:api", "load", "build:npm", "generate"];
  const open = Object.entries(config.tasks).filter(([, command]) => /(^|\s)(-A|--allow-all)(\s|$)/.test(command));
  assertEquals(open.map(([name]) => name).filter((name) => !development.includes(name)), []);
});
