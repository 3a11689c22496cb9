import { assertEquals, assertStringIncludes } from "@std/assert";
import {
  believeIssuer,
  formatIssuerDocument,
  formatTrust,
  type IssuerDocument,
  issuerRefreshMs,
  nobodyKnown,
} from "../proto/mod.ts";
import { files } from "./platform/files.ts";
import type { Context } from "./command.ts";
import { readTrust, refreshDaily } from "./trust.ts";

Deno.test("a command that stays reads keys of a domain again after a day, and tells of others", async () => {
  const folder = await Deno.makeTempDir();
  const trustFile = files.join(folder, "trust.json");
  const documentOf = (byte: number): IssuerDocument => ({
    domain: "acme.com",
    keys: [{ kid: `k${byte}`, key: new Uint8Array(32).fill(byte) }],
    closed: [],
  });
  const known = believeIssuer(documentOf(1), { source: "web", readMs: 0 });
  await Deno.writeTextFile(
    trustFile,
    formatTrust({ ...nobodyKnown, domains: new Map([["acme.com", known]]) }),
  );
  let nowMs = issuerRefreshMs - 1;
  let think: () => void = () => {};
  const [asked, warned]: [string[], string[]] = [[], []];
  const { promise: told, resolve: tell } = Promise.withResolvers<void>();
  const platform: Partial<Context["platform"]> = {
    program: "static",
    files,
    folders: { trustFile, agents: `${folder}/agents`, credentialsFile: "", current: folder },
    nowMs: () => nowMs,
    interrupted: new AbortController().signal,
    deadline: () => new AbortController().signal,
    every: (_, run) => {
      think = run;
      return () => {};
    },
    openHttp: (caCerts) => {
      assertEquals(caCerts, []);
      return (url) => {
        asked.push(url);
        return Promise.resolve(new Response(formatIssuerDocument(documentOf(2))));
      };
    },
  };
  const context = {
    platform,
    given: { value: () => undefined, has: () => false, rest: [] },
    output: { warn: (text: string) => Promise.resolve(warned.push(text)).then(() => tell()) },
  } as unknown as Context; // cast: with what is used here
  try {
    {
      await using _ = refreshDaily(context);
      think();
    }
    assertEquals(asked, []);
    nowMs += 1;
    {
      await using _ = refreshDaily(context);
      await told;
      think();
    }
    assertEquals(asked, ["https://acme.com/.well-known/static-agents"]);
    assertStringIncludes(warned.join(), "acme.com: issuer_keys_changed");
    const after = (await readTrust(context)).domains.get("acme.com");
    assertEquals([after?.keys, after?.changed, after?.readMs], [known.keys, true, nowMs]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
