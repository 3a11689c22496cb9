import { assertEquals } from "@std/assert";
import { type CorsPolicy, withCors } from "./cors.ts";
import type { HeaderField, ServerRequest, ServerResponse } from "./handler.ts";
import { StreamRequestBody } from "./request_body.ts";

const policy: CorsPolicy = {
  allowsOrigin: (origin) => origin === "https://app.example",
  methods: ["POST"],
  allowedHeaders: ["content-type"],
  exposedHeaders: ["x-id"],
  maxAgeS: 60,
};

function answerTo(
  method: string,
  headers: HeaderField[],
  response: ServerResponse,
): Promise<[number, Headers]> {
  const request: ServerRequest = {
    httpVersion: "2.0",
    method,
    scheme: "https",
    authority: "localhost",
    path: "/",
    headers,
    body: new StreamRequestBody({ taken: () => {}, dropped: () => {} }),
    onAbort: () => {},
    isMember: false,
    vouch: () => {},
    remoteAddress: "",
  };
  const answer = withCors(policy, () => response)(request);
  return Promise.resolve(answer).then(({ status, headers: fields }) => [
    status,
    new Headers([...fields ?? []].map(([name, value]): [string, string] => [name, value])),
  ]);
}

Deno.test("withCors() leaves requests without an origin as they are", async () => {
  assertEquals((await answerTo("POST", [], { status: 200 }))[1].get("vary"), null);
});

Deno.test("withCors() answers a preflight itself and passes OPTIONS that is none on", async () => {
  const origin = { name: "origin", value: "https://app.example" };
  const preflight = await answerTo("OPTIONS", [origin, {
    name: "access-control-request-method",
    value: "POST",
  }], {
    status: 500,
  });
  assertEquals([preflight[0], preflight[1].get("access-control-max-age")], [204, "60"]);
  assertEquals((await answerTo("OPTIONS", [origin], { status: 405 }))[0], 405);
});

Deno.test("withCors() lets only allowed origins read an answer, and tells caches that it depends on them", async () => {
  for (
    const [value, allowed] of [["https://app.example", "https://app.example"], [
      "https://evil.example",
      null,
    ]] as const
  ) {
    const [, fields] = await answerTo("POST", [{ name: "origin", value }], {
      status: 200,
      headers: [["x-id", "1"]],
    });
    assertEquals([
      fields.get("access-control-allow-origin"),
      fields.get("vary"),
      fields.get("x-id"),
    ], [
      allowed,
      "origin",
      "1",
    ]);
  }
});
