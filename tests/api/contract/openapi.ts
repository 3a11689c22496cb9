/** Requests of all sorts, made from the OpenAPI document, and answers that are compared with it. */
import { assert } from "@std/assert";
import { z } from "zod";
import { createRandom, type Random, seedFromEnvironment } from "../../support/mod.ts";
import type { Answer, SignedUp, TestApi } from "../../support/api/harness.ts";
import { inCampaign, tried } from "../../support/campaign.ts";
import type { Guarantees } from "./contract.ts";

/** Requests for each operation and credential. */
const rounds = inCampaign ? 200 : 1;

interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

interface Operation {
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly schema: Schema;
  }[];
  readonly requestBody?: {
    readonly content: Readonly<
      Record<string, { readonly schema: Schema; readonly example?: unknown }>
    >;
  };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: object }>> }>
  >;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

/**
 * All kinds of callers: none, keys of each kind, a session with and without its header, invented
 * credentials.
 */
type Credential = readonly [name: string, headers: Readonly<Record<string, string>>];

async function credentialsOf(api: TestApi, user: SignedUp): Promise<Credential[]> {
  const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });
  const make = async (body: object): Promise<string> =>
    (await api.call("POST", "/v1/keys", { key: user.apiKey, body })).json.key;
  const channels = [{ pattern: "acme/ops/*", allow: ["send"] }];
  const expires_at = new Date(Date.now() + 3_600_000).toISOString();
  const guest = {
    kind: "guest",
    channel_id: "AAAAAAAAAAAAAAAAAAAAAA",
    expires_at,
    message_limit: 5,
  };
  const login = { email: user.email, password: user.password };
  const session = await api.call("POST", "/v1/session", { body: login });
  const cookie = session.headers.get("set-cookie")?.split(";")[0] ?? "";
  return [
    ["nobody", {}],
    ["plain key", bearer(user.apiKey)],
    ["publishable key", bearer(await make({ kind: "publishable", channels }))],
    ["guest pass", bearer(await make(guest))],
    ["narrow key", bearer(await make({ scopes: ["keys:write", "account"] }))],
    ["session", { cookie, "x-static-csrf": session.json.csrf }],
    ["session without its header", { cookie }],
    ["made-up", { authorization: "Bearer sk_live_x", cookie: "static_session=x" }],
    ["not a bearer", { authorization: "Basic eDp5" }],
  ];
}

/** Text of all sorts, some of which passes for what a field wants. */
function text(random: Random, { format }: Schema): string {
  const id = crypto.randomUUID();
  switch (random.below(3) === 0 ? "" : format) {
    case "uuid":
      return id;
    case "email":
      return `x-${id}@example.com`;
    case "password":
      return `password ${id}`;
    case "date-time":
      return new Date(Date.now() + random.below(2) * 3_600_000).toISOString();
    case "date":
      return "2026-11-15";
  }
  return random.pick([
    "",
    "x",
    id,
    "acme/ops/*",
    "*",
    "\u0000",
    "\ud800",
    "é".repeat(300),
    "AAAA-BBBB-CCCC",
    "-1",
    "a@b.example",
  ]);
}

/** A value that mostly fits the schema. */
function valueOf(random: Random, schema: Schema): unknown {
  const kinds: readonly unknown[] = [null, 7, -1, 1.5, "x", true, [], {}, { constructor: 1 }];
  if (random.below(12) === 0) return random.pick(kinds);
  if (schema.anyOf !== undefined) return valueOf(random, random.pick(schema.anyOf));
  if (schema.enum !== undefined) return random.pick(schema.enum);
  const type = typeof schema.type === "string"
    ? schema.type
    : random.pick(schema.type ?? ["string"]);
  switch (type) {
    case "object": {
      const wanted = Object.entries(schema.properties ?? {}).filter(([name]) =>
        schema.required?.includes(name) ? random.below(10) > 0 : random.below(2) === 0
      );
      const fields = wanted.map(([name, each]) => [name, valueOf(random, each)]);
      return Object.fromEntries(random.below(12) === 0 ? [...fields, ["surplus", 1]] : fields);
    }
    case "array": {
      const length = (schema.minItems ?? 0) + random.below(3);
      return Array.from({ length }, () => valueOf(random, schema.items ?? {}));
    }
    case "integer":
    case "number":
      return random.pick([schema.minimum ?? 0, schema.maximum ?? 1, 1, -1, 1e9]);
    case "boolean":
      return random.below(2) === 0;
    default:
      return text(random, schema);
  }
}

/** The body as bytes: JSON, or something that is none. */
function bodyOf(
  random: Random,
  { requestBody }: Operation,
): { raw?: string; headers?: Record<string, string> } {
  const content = requestBody?.content["application/json"];
  if (content === undefined) return {};
  const headers = { "content-type": random.below(15) === 0 ? "text/plain" : "application/json" };
  if (random.below(15) === 0) {
    return { raw: random.pick(["{", "[]", "null", '"x"', "x".repeat(70_000)]), headers };
  }
  return { raw: JSON.stringify(valueOf(random, content.schema)), headers };
}

function pathOf(random: Random, path: string, { parameters = [] }: Operation): string {
  const filled = path.replaceAll(
    /\{\w+\}/g,
    () => encodeURIComponent(random.pick([crypto.randomUUID(), "x", "..x", "%00", "a/b"])),
  );
  const query = parameters.filter((each) => each.in === "query" && random.below(2) === 0)
    .map(({ name, schema }) =>
      `${name}=${encodeURIComponent(text(random, schema).toWellFormed())}`
    );
  return query.length === 0 ? filled : `${filled}?${query.join("&")}`;
}

/** Resolves `#/components/schemas/X`, so that a schema stands on its own. */
function inline(schema: unknown, document: Document): object {
  return JSON.parse(JSON.stringify(schema), (_, value) => {
    const name = typeof value?.$ref === "string"
      ? value.$ref.slice("#/components/schemas/".length)
      : undefined;
    return name === undefined ? value : inline(document.components.schemas[name], document);
  });
}

/**
 * By their schemas' text: making one takes longer than the request does, and most answers of most
 * operations have the same.
 */
const validators = new Map<string, z.ZodType>();

function validatorOf(schema: object): z.ZodType {
  const text = JSON.stringify(schema);
  const made = validators.get(text) ??
    z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  validators.set(text, made);
  return made;
}

/** Why the document does not allow this answer. The operation's references are resolved. */
function objection({ status, json, text }: Answer, { responses }: Operation): string | undefined {
  const documented = responses[String(status)];
  if (documented === undefined) return `status ${status} is not documented`;
  const schema = documented.content?.["application/json"]?.schema;
  if (schema === undefined) return json === undefined ? undefined : "it has a body";
  const parsed = validatorOf(schema).safeParse(json);
  return parsed.success ? undefined : `its body has another shape: ${text.slice(0, 300)}`;
}

export const openApiGuarantees: Guarantees = {
  "Requests made from the OpenAPI document get no answer that it does not allow": async (
    { api },
  ) => {
    const random = createRandom(seedFromEnvironment());
    let count = 0;
    const statuses = new Map<number, number>();
    const document: Document = (await api.call("GET", "/openapi.json")).json;
    const readers = await credentialsOf(api, await api.signUp());
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const [method, described] of Object.entries(methods)) {
        const operation: Operation = JSON.parse(JSON.stringify(inline(described, document)));
        // Some operations end what others need, so each that changes something has its own.
        const credentials = method === "get"
          ? readers
          : await credentialsOf(api, await api.signUp());
        for (const [name, headers] of credentials) {
          for (let round = 0; round < rounds; round++) {
            const body = bodyOf(random, operation);
            const request = { ...body, headers: { ...headers, ...body.headers } };
            const answer = await api.call(
              method.toUpperCase(),
              pathOf(random, path, operation),
              request,
            );
            count++;
            statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
            const problem = objection(answer, operation);
            assert(
              problem === undefined,
              `seed ${random.seed}: ${method} ${path} as ${name} with ${
                body.raw?.slice(0, 300)
              }: ${problem}`,
            );
          }
        }
      }
    }
    const told = [...statuses].sort(([a], [b]) => a - b).map(([status, times]) =>
      `${times} × ${status}`
    ).join(", ");
    console.log(`${count} requests: ${told}`);
    tried(`${count} requests made from the OpenAPI document`);
    const isOften = (status: number): boolean => (statuses.get(status) ?? 0) > count / 20;
    assert(isOften(200) && isOften(400) && !statuses.has(500), told);
  },
};
