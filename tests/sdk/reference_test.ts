// The SDK's API reference: it can be made, it is complete, and every class that does something
// shows how it is used.
import { assert, assertEquals } from "@std/assert";
import { runCommand } from "../support/mod.ts";

const cwd = new URL("../../", import.meta.url).pathname;

interface Documented {
  readonly name: string;
  readonly kind: string;
  readonly accessibility?: string;
  readonly jsDoc?: { readonly tags?: readonly { readonly kind: string }[] };
}

interface Reference {
  readonly nodes: Readonly<
    Record<
      string,
      {
        readonly symbols: readonly { readonly name: string; readonly declarations: Documented[] }[];
      }
    >
  >;
}

function lacksExample({ jsDoc, accessibility }: Documented): boolean {
  const kinds = jsDoc?.tags?.map(({ kind }) => kind) ?? [];
  return accessibility !== "private" && !kinds.includes("example") && !kinds.includes("internal");
}

Deno.test("deno task reference writes a page for every public symbol", async () => {
  await runCommand(Deno.execPath(), ["task", "--quiet", "reference"], { cwd });
  const page = await Deno.readTextFile(`${cwd}dist/reference/all_symbols.html`);
  for (const symbol of ["StaticClient", "Channel", "ChannelManager", "StaticError", "ErrorCode"]) {
    assert(page.includes(`>${symbol}<`), `${symbol} is not in the reference`);
  }
});

Deno.test("every public symbol has a doc comment and refers to public types only", async () => {
  await runCommand(Deno.execPath(), ["doc", "--lint", "--quiet", "sdk/mod.ts"], { cwd });
});

Deno.test("every public class that does something has an example", async () => {
  const { nodes }: Reference = JSON.parse(
    await runCommand(Deno.execPath(), ["doc", "--json", "sdk/mod.ts"], { cwd }),
  );
  const symbols = Object.values(nodes).flatMap(({ symbols }) => symbols);
  const acting = ["StaticClient", "Channel", "ChannelManager"];
  const missing = symbols.filter(({ name, declarations }) =>
    acting.includes(name) && declarations.some(lacksExample)
  );
  assertEquals(missing.map(({ name }) => name), []);
});
