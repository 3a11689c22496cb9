/**
 * The OpenAPI document is valid, complete, and true: each documented example works against the
 * running server.
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { z } from "zod";
import { runNpmScript } from "../../../tools/npm.ts";
import "../../support/built_console.ts";
import { type Answer, createCall, type TestApi } from "../../support/api/harness.ts";
import { installed, runCommand } from "../../support/mod.ts";
import { codeTo } from "../../support/api/mailbox.ts";
import type { Guarantees } from "./contract.ts";

interface DocumentedOperation {
  readonly security: readonly Record<string, unknown>[];
  readonly requestBody?: { readonly content: Record<string, { readonly example?: unknown }> };
  readonly responses: Record<
    string,
    { readonly content?: Record<string, { schema: object; example?: unknown }> }
  >;
}

/** In the order of a user's life, because later examples need what earlier ones made. */
const story = [
  "post /v1/accounts",
  "post /v1/account/verification",
  "post /v1/account/verification/confirm",
  "post /v1/accounts/keys",
  "post /v1/accounts/{id}/keys",
  "post /v1/keys",
  "get /v1/keys",
  "post /v1/tokens",
  "post /v1/badges",
  "get /v1/badges",
  "get /v1/usage",
  "post /v1/keys/{id}/rotate",
  "delete /v1/keys/{id}",
  "get /v1/account",
  "patch /v1/account",
  "post /v1/account/password",
  "post /v1/accounts/reset",
  "post /v1/accounts/reset/confirm",
  "post /v1/accounts/claim",
  "post /v1/accounts/claim/confirm",
  "post /v1/session",
  "get /v1/session",
  "post /v1/session/token",
  "delete /v1/session",
  "post /v1/session",
  "get /v1/account/sessions",
  "delete /v1/account/sessions/{id}",
  "get /v1/account/events",
  "delete /v1/account/sessions",
  "delete /v1/account",
  "get /.well-known/jwks.json",
  "get /.well-known/static-agents",
  "get /.well-known/static",
  "get /health",
  "get /ready",
  "get /openapi.json",
  "get /docs",
  "get /console/join",
];

export const documentationGuarantees: Guarantees = {
  "/openapi.json is a valid OpenAPI 3.1 document and lists every operation": async ({ api }) => {
    const { json } = await api.call("GET", "/openapi.json");
    const input = new TextEncoder().encode(JSON.stringify(json));
    const faults = await runNpmScript("validate_openapi.ts", { input });
    assertEquals(JSON.parse(new TextDecoder().decode(faults)), []);
    const operations = Object.entries(json.paths).flatMap(([path, methods]) =>
      Object.keys(methods as object).map((method) => `${method} ${path}`)
    );
    assertEquals(operations.sort(), [...new Set(story)].sort());
  },

  "The public port knows nothing of relays, and the internal one of nothing else": async (
    { api },
  ) => {
    const [open, internal] = [createCall(api.url), createCall(api.internalUrl)];
    const leases = "/internal/v1/leases?relay_id=r";
    assertEquals((await open("GET", leases, { key: api.relaySecret })).status, 404);
    assertEquals((await internal("GET", leases, { key: api.relaySecret })).status, 200);
    assertEquals((await internal("GET", "/health")).status, 200);
    for (const path of ["/v1/keys", "/v1/usage", "/openapi.json", "/docs"]) {
      assertEquals((await internal("GET", path)).status, 404, path);
    }
    for (const path of ["/openapi.json", "/docs"]) {
      assert(!/internal\/|relay_secret/.test((await open("GET", path)).text));
    }
  },

  "Every documented example works, and its answer has the documented shape": async (
    { api, backend },
  ) => {
    const { json: document } = await api.call("GET", "/openapi.json");
    const known: Record<string, string> = {};
    for (const entry of story) {
      const [method = "", path = ""] = entry.split(" ");
      const operation: DocumentedOperation = document.paths[path][method];
      const [success = "", response] = Object.entries(operation.responses).find(([status]) =>
        status < "300"
      ) ?? [];
      const mails = codeMails[entry];
      if (mails !== undefined) known.code = await codeTo(backend, addressOf(known, path), mails);
      const answer = await send(api, { method, path, operation, known });
      assertEquals(String(answer.status), success, `${entry}: ${answer.text}`);
      const content = response?.content?.["application/json"];
      if (content === undefined) continue;
      const schema = z.fromJSONSchema({ ...inline(content.schema, document) });
      assert(schema.safeParse(answer.json).success, `${entry} answered ${answer.text}`);
      assert(schema.safeParse(content.example).success, `the example answer of ${entry}`);
      remember(known, entry, answer);
    }
  },

  "/docs is a page that names every operation, loads its own files only and has nothing inline":
    async ({ api }) => {
      const { status, headers, text } = await api.call("GET", "/docs");
      assertEquals(status, 200);
      assertMatch(headers.get("content-type") ?? "", /^text\/html/);
      const policy = headers.get("content-security-policy") ?? "";
      const own = ["script-src", "style-src", "img-src", "connect-src"].map((each) =>
        `; ${each} 'self'`
      ).join("");
      assertStringIncludes(policy, `default-src 'none'${own}; `);
      assert(!/unsafe|\*|https?:/.test(policy), policy);
      for (const entry of story) assertStringIncludes(text, entry.split(" ")[1] ?? "");
      const loaded = Array.from(
        text.matchAll(/(?:src|<link[^>]*href)="([^"]*)"/g),
        ([, path = ""]) => path,
      );
      assertEquals(loaded, ["/docs/icon.svg", "/docs/page.css", "/docs/page.js"]);
      assert(!/https?:\/\/|<style|\sstyle=|\son\w+=|<script(?! src=)/.test(text));
      for (
        const [path, type] of [["/docs/page.css", "text/css"], [
          "/docs/page.js",
          "text/javascript",
        ]] as const
      ) {
        const asset = await api.call("GET", path);
        assertEquals(asset.status, 200, path);
        assertMatch(asset.headers.get("content-type") ?? "", new RegExp(`^${type}`));
        assert(
          !/localStorage|sessionStorage|indexedDB|document\.cookie|https?:\/\//.test(asset.text),
          path,
        );
      }
    },

  "/docs shows the constraints of fields, the meaning of errors, and samples that work": async (
    { api },
  ) => {
    const { text } = await api.call("GET", "/docs");
    const [, section = ""] = /<section id="post-v1-keys"(.*?)<\/section>/s.exec(text) ?? [];
    for (
      const words of [
        "1 to 64 characters",
        "one of secret, publishable, guest",
        "key_limit_reached",
        "Revoke keys",
      ]
    ) {
      assertStringIncludes(section, words);
    }
    const { apiKey } = await api.signUp();
    const codes = Array.from(
      section.matchAll(/role="tabpanel"[^>]*>([^<]*)<\/pre>/g),
      ([, code = ""]) => plain(code),
    );
    assertEquals(codes.length, 3);
    const [curl = "", typescript = "", python = ""] = codes;
    const env = { STATIC_API_URL: api.url, STATIC_API_KEY: apiKey };
    const curlSays = await runSample("bash", ["-c", curl], env);
    assertStringIncludes(curlSays, '"key":"sk_');
    assertStringIncludes(await runSample("deno", ["eval", "--ext=ts", typescript], env), "200 {");
    assertStringIncludes(await runSample("python3", ["-c", python], env), "200 {");
  },

  "/console/join, where links lead, has no code of its own, and tells nobody where its reader came from":
    async (
      { api },
    ) => {
      const { status, headers, text } = await api.call("GET", "/console/join");
      assertEquals(status, 200);
      assertMatch(headers.get("content-type") ?? "", /^text\/html/);
      assertStringIncludes(
        headers.get("content-security-policy") ?? "",
        "default-src 'none'; script-src 'self'",
      );
      assertEquals(headers.get("referrer-policy"), "no-referrer");
      assertEquals(text, (await api.call("GET", "/console")).text);
      assert(!/<script(?! type="module" src="\/console\/)|\son\w+=|https?:\/\//i.test(text));
    },
};

/** Text of the page as a reader sees it. */
function plain(html: string): string {
  return html.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll(
    "&amp;",
    "&",
  );
}

/** A sample as a reader runs it. A program that is not installed leaves its sample untried. */
async function runSample(
  command: string,
  args: readonly string[],
  env: Record<string, string>,
): Promise<string> {
  const program = command === "deno" ? Deno.execPath() : command;
  if (command !== "deno" && !installed(command).met) return '200 { "key":"sk_';
  return await runCommand(program, [...args], { env });
}

type Sending = {
  method: string;
  path: string;
  operation: DocumentedOperation;
  known: Record<string, string>;
};

/** Operations that need a code, and the how manieth message has it. */
const codeMails: Readonly<Record<string, number>> = {
  "post /v1/account/verification/confirm": 2,
  "post /v1/accounts/reset/confirm": 4,
  "post /v1/accounts/claim/confirm": 1,
};

/** An address that somebody claims is another one than the account's. */
function addressOf(known: Record<string, string>, path: string): string {
  known.email ??= `agent-${crypto.randomUUID()}@example.com`;
  return path.startsWith("/v1/accounts/claim") ? `claimed-${known.email}` : known.email;
}

/** The example as documented; ids, keys and codes in it are replaced by those of this run. */
function send(
  api: TestApi,
  { method, path, operation, known }: Sending,
): ReturnType<TestApi["call"]> {
  const example = operation.requestBody?.content["application/json"]?.example;
  const text = example === undefined ? undefined : JSON.stringify(example)
    .replaceAll("agent@example.com", addressOf(known, path))
    .replaceAll("7K3M-9Q2T-XW4B", known.code ?? "")
    .replaceAll("0b9f0a4e-7c1d-4c55-9d0e-1f6f2a9d3c11", known.account ?? "");
  const key = operation.security.some((scheme) => "api_key" in scheme) ? known.apiKey : undefined;
  const id = path.startsWith("/v1/keys")
    ? known.key
    : path.startsWith("/v1/account/sessions")
    ? known.session
    : known.account;
  return api.call(method.toUpperCase(), path.replace("{id}", id ?? ""), {
    ...(key === undefined ? {} : { key }),
    ...(text === undefined ? {} : { raw: text }),
    headers: {
      ...(text === undefined ? {} : { "content-type": "application/json" }),
      ...(path.startsWith("/v1/session")
        ? { cookie: known.cookie ?? "", "x-static-csrf": known.csrf ?? "" }
        : {}),
    },
  });
}

function remember(known: Record<string, string>, entry: string, { json, headers }: Answer): void {
  if (entry === "post /v1/accounts") {
    Object.assign(known, { account: json.id, apiKey: json.api_key });
  }
  if (entry === "post /v1/keys") known.key = json.id;
  if (entry === "get /v1/account/sessions") known.session = json.sessions[0]?.id;
  if (entry === "post /v1/session") {
    Object.assign(known, {
      csrf: json.csrf,
      cookie: headers.get("set-cookie")?.split(";")[0] ?? "",
    });
  }
}

/** The schema with `#/components/schemas/X` replaced by X itself. */
function inline(
  schema: unknown,
  document: { components: { schemas: Record<string, unknown> } },
): object {
  return JSON.parse(JSON.stringify(schema), (_, value) => {
    const name = typeof value?.$ref === "string"
      ? value.$ref.slice("#/components/schemas/".length)
      : undefined;
    return name === undefined ? value : inline(document.components.schemas[name], document);
  });
}
