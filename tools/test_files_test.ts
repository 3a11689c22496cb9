import { assertEquals } from "@std/assert";
import { campaigns } from "./campaigns.ts";
import { readSources } from "./source.ts";
import { suites } from "./suites.ts";
import { findTestFiles, writeTestPrograms } from "./test_files.ts";

const root = new URL("../", import.meta.url).pathname.replace(/\/$/, "");

Deno.test("every test file of the project belongs to exactly one suite", async () => {
  const lists = await Promise.all(
    suites.map(({ tests }) => tests === undefined ? [] : findTestFiles(root, tests)),
  );
  const all = await findTestFiles(root, { paths: ["."], without: ["tools/npm", "wasm/assembly"] });
  assertEquals(lists.flat().sort(), all);
});

Deno.test("every campaign file, and every test that is longer in a campaign, belongs to a campaign", async () => {
  const kinds = ["test", "campaign"] as const;
  const inCampaigns = await Promise.all(
    campaigns.map(({ paths }) => findTestFiles(root, { paths, kinds })),
  );
  const known = new Set(inCampaigns.flat());
  const longer = new Set<string>();
  for (const { path, text } of await readSources(root)) {
    if (path.startsWith("tools/")) continue;
    if (
      path.endsWith("_campaign.ts") ||
      (path.endsWith("_test.ts") && /STATIC_STRESS|\binCampaign\b/.test(text))
    ) {
      longer.add(path);
    }
  }
  assertEquals([...longer].filter((path) => !known.has(path)), []);
});

Deno.test("a campaign names files that are there", async () => {
  for (const { paths } of campaigns) for (const path of paths) await Deno.stat(`${root}/${path}`);
});

Deno.test("a suite without a file of its own does not exist", async () => {
  for (const { name, tests } of suites) {
    if (tests !== undefined) {
      assertEquals([name, (await findTestFiles(root, tests)).length > 0], [name, true]);
    }
  }
});

Deno.test("findTestFiles() finds tests at every depth, leaves out files and folders, and none that only begins alike", async () => {
  await using folder = await temporaryFolder();
  for (
    const path of [
      "a/x_test.ts",
      "a/b/y_test.ts",
      "a/b2/z_test.ts",
      "a/code.ts",
      "a/node_modules/n_test.ts",
    ]
  ) {
    await Deno.mkdir(`${folder.path}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
    await Deno.writeTextFile(`${folder.path}/${path}`, "");
  }
  const found = (...without: string[]): Promise<string[]> =>
    findTestFiles(folder.path, { paths: ["a"], without });
  assertEquals(await found(), ["a/b/y_test.ts", "a/b2/z_test.ts", "a/x_test.ts"]);
  assertEquals(await found("a/b", "a/x_test.ts"), ["a/b2/z_test.ts"]);
  assertEquals(await findTestFiles(folder.path, { paths: ["."] }), await found());
});

Deno.test("writeTestPrograms() deals every file to one lane, and makes no lane without a file", async () => {
  await using folder = await temporaryFolder();
  const deal = async (...files: string[]): Promise<string[]> => {
    const paths = await writeTestPrograms({ root: "/p", folder: folder.path, files, lanes: 2 });
    return await Promise.all(paths.map((path) => Deno.readTextFile(path)));
  };
  const line = (name: string): string => `import "file:///p/${name}";\n`;
  assertEquals(await deal("a_test.ts", "b_test.ts", "c_test.ts"), [
    line("a_test.ts") + line("c_test.ts"),
    line("b_test.ts"),
  ]);
  assertEquals(await deal("a_test.ts"), [line("a_test.ts")]);
});

async function temporaryFolder(): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await Deno.makeTempDir();
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}
