// Pages that collect a list from the code hold all of it.
import { assert, assertEquals } from "@std/assert";
import { errorAdvice } from "../../proto/error_advice.ts";
import { errorCodes, limits } from "../../proto/mod.ts";
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
  const used = new Set(names.flatMap((path) => Array.from(read(path).matchAll(variable), ([, name = ""]) => name)));
  const [, table = ""] = read("docs/configuration.md").split("## Clients\n");
  const [clients = ""] = table.split("\n## ");
  const listed = Array.from(clients.matchAll(/^\| `(\w+)`/gm), ([, name = ""]) => name);
  assertEquals(listed.sort(), [...used].filter((name) => !foreign.includes(name)).sort());
});

Deno.test("every error code has a meaning and something to do, in sentences", () => {
  assertEquals(Object.keys(errorAdvice).sort(), Object.keys(errorCodes).sort());
  for (const [code, { meaning, action }] of Object.entries(errorAdvice)) {
    assert(/^[A-Z].*\.$/.test(meaning) && /^[A-Z].*\.$/.test(action), code);
  }
});

Deno.test("docs/limits.md tells sizes as the code has them", () => {
  const page = read("docs/limits.md");
  const told: readonly [string, string][] = [
    ["payload of a message", `${limits.payloadBytes / 2 ** 20} MiB`],
    ["members of a channel", "1,000"],
    ["owners of a channel", String(limits.ownersPerChannel)],
    ["queue of a channel", `${limits.queueBytesPerChannel / 2 ** 20} MiB and ${limits.queueAgeMs / 86_400_000} days`],
    ["channel name", `1 to ${limits.nameComponentBytes} characters`],
    ["identity of an agent", `1 to ${limits.identityBytes} bytes`],
    ["uses of an invite", limits.inviteUses.toLocaleString("en")],
  ];
  assertEquals(limits.membersPerChannel, 1000);
  for (const [limit, value] of told) {
    assert(new RegExp(`^\\| ${limit} +\\| [^|]*${value}`, "m").test(page), `${limit}: ${value}`);
  }
});
