import { assertEquals } from "@std/assert";
import { measureFolders, pythonStatements } from "./sizes.ts";
import plugin from "./sizes_plugin.ts";

/** Sizes as `rule place` and a number. */
function sizesOf(text: string): Record<string, number> {
  return Object.fromEntries(
    Deno.lint.runPlugin(plugin, "a.ts", text).map(({ message }) => {
      const { rule, place, size } = JSON.parse(message);
      return [`${rule} ${place}`.trimEnd(), size];
    }),
  );
}

Deno.test("statements count; comments, blank lines, imports and wrapping do not", () => {
  const text =
    'import { b } from "./b.ts";\n\n// One.\n\n/** Two. */\nconst a = b(\n  1,\n  2,\n);\nif (a) b();\n';
  assertEquals(sizesOf(text), { file_statements: 3, imports: 1 });
});

Deno.test("a function has the statements of functions inside it, and its own branches, a switch being one", () => {
  const inner = "const g = () => {\nif (a) return b ? 1 : 2;\nreturn 3;\n};";
  const cases = "switch (c) {\ncase 1: return g();\ncase 2: return 2;\n}";
  assertEquals(sizesOf(`function f() {\n${inner}\n${cases}\n}\n`), {
    file_statements: 8,
    imports: 0,
    "function_statements f": 7,
    "branches f": 1,
    "function_statements f.g": 3,
    "branches f.g": 2,
  });
});

Deno.test("a class has its own fields, private ones too, and none that are static; methods have its name", () => {
  const text =
    "class A {\n#a = 1;\nb = 2;\nstatic c = 3;\nconstructor(private d: number) {}\n#e() { this.b++; }\n}\n";
  assertEquals(sizesOf(text), {
    file_statements: 7,
    imports: 0,
    "fields A": 3,
    "function_statements A.constructor": 0,
    "branches A.constructor": 0,
    "function_statements A.e": 1,
    "branches A.e": 0,
  });
});

Deno.test("Python's statements count, wherever they are wrapped; texts, comments and imports do not", () => {
  const text =
    '"""Its\npurpose."""\n\nimport os\n\n# One.\ndef f(\n    a,\n    b,\n):\n    """Two."""\n    return "(" + a\n';
  assertEquals(pythonStatements(text), 2);
});

Deno.test("a folder has the files in it, and not those of folders below", () => {
  assertEquals(
    measureFolders(["a/b.ts", "a/c.ts", "a/d/e.ts"]).map(({ path, size }) => [path, size]),
    [
      ["a", 2],
      ["a/d", 1],
    ],
  );
});
