// Pages that collect a list from the code hold all of it.
import { assert, assertEquals } from "@std/assert";
import { errorAdvice } from "../../proto/base/error_advice.ts";
import { errorCodes, isErrorCode } from "../../proto/mod.ts";
import { variableNames } from "../../proto/base/variables.ts";
import { ConfigError } from "../../server/mod.ts";
import { limitsWith } from "../../tools/pages/limits_page.ts";
import { isTest, listFiles } from "../../tools/source.ts";

const root = new URL("../../", import.meta.url);
const read = (path: string): string => Deno.readTextFileSync(new URL(path, root));

/** Of the machine or of development, not of Static. */
const foreign = ["DENO_CERT", "DENO_DIR", "DENO_TLS_CA_STORE", "STATIC_STRESS", "STATIC_TEST_SEED"];

Deno.test("docs/configuration.md lists the variables that CLI, SDK and Python read", async () => {
  const names = (await listFiles(root.pathname)).filter((path) =>
    !isTest(path) && /^(cli\/.*\.ts|sdk\/.*\.ts|sdk\/python\/src\/.*\.py)$/.test(path)
  );
  const variable = /["'`](STATIC_[A-Z_]+|NO_COLOR|XDG_[A-Z_]+)["'`]/g;
  const used = new Set(
    names.flatMap((path) => Array.from(read(path).matchAll(variable), ([, name = ""]) => name)),
  );
  const [, table = ""] = read("docs/configuration.md").split("## Clients\n");
  const [clients = ""] = table.split("\n## ");
  const listed = Array.from(clients.matchAll(/^- `(\w+)`/gm), ([, name = ""]) => name);
  assertEquals(listed.sort(), [...used].filter((name) => !foreign.includes(name)).sort());
});

Deno.test("the list of all variables has those that stand in the text of the repository, at most 90", async () => {
  const files = (await listFiles(root.pathname)).filter((path) =>
    !["CHANGELOG.md", "proto/base/variables.ts"].includes(path) && !path.includes("/gen/")
  );
  const name = /\bSTATIC_[A-Z0-9_]*[A-Z0-9](?![\w*(])/g;
  const used = new Set(files.flatMap((path) => read(path).match(name) ?? []));
  assertEquals([...used].sort(), variableNames.toSorted());
  assert(used.size <= 90, `${used.size} variables`);
});

Deno.test("every error code has a meaning and something to do, in sentences", () => {
  assertEquals(Object.keys(errorAdvice).sort(), Object.keys(errorCodes).sort());
  for (const [code, { meaning, action }] of Object.entries(errorAdvice)) {
    assert(/^[A-Z].*\.$/.test(meaning) && /^[A-Z].*\.$/.test(action), code);
  }
});

/** Values of all kinds and sizes: each variable takes one of them that is not its default. */
const values = ["7", "7/60", "70", "2048", "70000", "7000000", "70000000"];

Deno.test("every variable that docs/capacity.md names changes its limit", () => {
  const limits = [...limitsWith(() => undefined, read)];
  const valueWith = (
    variable: string,
    value: string,
    [topic, index]: readonly [string, number],
  ): string | undefined => {
    try {
      return limitsWith((name) => name === variable ? value : undefined, read).get(topic)?.[index]
        ?.[1];
    } catch (error) {
      if (error instanceof ConfigError) return undefined;
      throw error;
    }
  };
  const rows = limits.flatMap(([topic, rows]) =>
    rows.map((row, index) => [row, [topic, index]] as const)
  );
  assert(rows.length > 80, `${rows.length} limits`);
  for (const [[name, usual, , , ...setBy], place] of rows) {
    for (const variable of setBy.filter((each) => each.startsWith("STATIC_"))) {
      const changes = values.some((value) =>
        (valueWith(variable, value, place) ?? usual) !== usual
      );
      assert(changes, `${variable} does not change ${name}, which is ${usual}`);
    }
  }
});

Deno.test("every variable of a number that the relay reads, and every rate of the API, is in docs/capacity.md or sets no limit", () => {
  const named = new Set(
    [...limitsWith(() => undefined, read).values()].flat().flatMap(([, , , , ...setBy]) => setBy),
  );
  const notLimits = ["STATIC_RELAY_DRAIN_SECONDS"];
  const variables = [
    ...read("relay/config.ts").matchAll(/name: "(\w+)"/g),
    ...read("api/config.ts").matchAll(/"(STATIC_RATE_\w+)"/g),
  ];
  const missing = variables.map(([, name = ""]) => name).filter((name) =>
    !named.has(name) && !notLimits.includes(name)
  );
  assertEquals(missing, []);
});

Deno.test("docs/capacity.md names error codes that there are", () => {
  const told = [...limitsWith(() => undefined, read).values()].flat().flatMap(([, , , above]) =>
    Array.from(above.matchAll(/`(\w+)`/g), ([, code = ""]) => code)
  );
  assertEquals(told.filter((code) => !isErrorCode(code)), []);
});

/** Names that the items of the list below a heading begin with. */
function itemsBelow(page: string, heading: string): string[] {
  const [, section = ""] = read(page).split(`\n## ${heading}\n`);
  const heads = Array.from(
    (section.split("\n## ")[0] ?? "").matchAll(/^- ((?:`\w+`(?:, )?)+)/gm),
    ([, head = ""]) => head,
  );
  return heads.flatMap((head) => Array.from(head.matchAll(/`(\w+)`/g), ([, name = ""]) => name))
    .sort();
}

Deno.test("docs/troubleshooting.md lists every issue of health()", () => {
  const [, union = ""] = read("sdk/channel/issues.ts").split("export type IssueKind =");
  const kinds = Array.from(
    (union.split(";\n")[0] ?? "").matchAll(/^ {2}\| "(\w+)"/gm),
    ([, kind = ""]) => kind,
  );
  assertEquals(itemsBelow("docs/troubleshooting.md", "Issues"), kinds.sort());
});

Deno.test("docs/messages.md lists every event", () => {
  const types = Array.from(
    read("sdk/channel/events.ts").matchAll(/readonly type: "(\w+)"/g),
    ([, type = ""]) => type,
  );
  assertEquals(itemsBelow("docs/messages.md", "Events"), [...new Set(types)].sort());
});
