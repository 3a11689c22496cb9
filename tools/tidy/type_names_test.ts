import { assertEquals } from "@std/assert";
import { createSourceFile } from "../source.ts";
import { measureTypeNames } from "./type_names.ts";

function found(files: Readonly<Record<string, string>>): string[] {
  const sizes = measureTypeNames(
    Object.entries(files).map(([path, text]) => createSourceFile(path, text)),
  );
  return sizes.map(({ rule, path, line, place, size }) =>
    `${path}:${line} ${rule} ${place} ${size}`
  );
}

Deno.test("a name that two files declare is counted once, where it stands first", () => {
  assertEquals(
    found({
      "sdk/b.ts": "interface Job {}\n",
      "sdk/a.ts": "\nexport type Job = string;\n",
      "sdk/c.py": "class Job:\n",
      "bench/d.ts": "type Job = number;\n",
    }),
    ["sdk/a.ts:2 type_declarations Job 2"],
  );
});

Deno.test("a participle alone is found, with others and in comments it is not", () => {
  const text = `// type Held = string;
export class Waiting<Of> {}
type Told = "type Kept = 1";
interface HeldMessage {}
interface Greeting {}
`;
  assertEquals(
    found({ "api/a.ts": text }).filter((line) => line.includes("participles")),
    ["api/a.ts:2 bare_participles Waiting 1", "api/a.ts:3 bare_participles Told 1"],
  );
});
