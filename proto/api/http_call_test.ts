import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  type ApiAccess,
  type ApiCall,
  callApi,
  isLoopback,
  isSameApi,
  parseApiUrl,
  UnusableAnswer,
} from "./http_call.ts";

const credential = "canary-credential-0123456789";
const password = "canary password of letters";

interface Sent {
  readonly url: string;
  readonly init: RequestInit;
}

/** An API that answers everything in one way, and what it was sent. */
function apiThat(
  answer: (init: RequestInit) => Response | Promise<Response>,
): { access: ApiAccess; sent: Sent[] } {
  const sent: Sent[] = [];
  const fetchIt: ApiAccess["fetch"] = async (url, init) => {
    sent.push({ url, init });
    return await answer(init);
  };
  return {
    access: { url: "https://api.test", fetch: fetchIt, signal: new AbortController().signal },
    sent,
  };
}

const call: ApiCall<unknown> = {
  method: "POST",
  path: "/v1/things",
  credential,
  body: { password },
  secrets: [password],
  parse: (json) => json,
};

Deno.test("callApi() sends the credential in one header, follows no redirect and takes no cookies along", async () => {
  const { access, sent } = apiThat(() => Response.json({ id: "x" }, { status: 201 }));
  assertEquals(await callApi(access, call), { outcome: "done", value: { id: "x" } });
  const [request] = sent;
  assert(request !== undefined && sent.length === 1);
  const { headers, signal, ...init } = request.init;
  assertEquals(request.url, "https://api.test/v1/things");
  assertEquals(Object.fromEntries(new Headers(headers)), {
    accept: "application/json",
    authorization: `Bearer ${credential}`,
    "content-type": "application/json",
  });
  const body = JSON.stringify({ password });
  assertEquals(init, {
    method: "POST",
    body,
    redirect: "error",
    credentials: "omit",
    cache: "no-store",
  });
  assertEquals(signal, access.signal);
});

Deno.test("callApi() shows the token of a known place and hands over the one that it gets, if a header can carry them", async () => {
  const device = "canary-device_0123456789";
  const given = (token: string): Response =>
    Response.json({}, { headers: { "static-device": token } });
  const parse: ApiCall<string | undefined>["parse"] = (_, token) => token;
  const tokens = [["x-1", "x-1"], ["two words", undefined], ["x".repeat(513), undefined]] as const;
  for (const [token, value] of tokens) {
    const { access, sent } = apiThat(() => given(token));
    assertEquals(await callApi(access, { ...call, device, parse }), { outcome: "done", value });
    assertEquals(new Headers(sent[0]?.init.headers).get("static-device"), device);
  }
  const { access, sent } = apiThat(() => Response.json({ error: `no ${device}` }, { status: 401 }));
  assert(!JSON.stringify(await callApi(access, { ...call, device })).includes(device));
  await callApi(access, { ...call, device: "with\nnewline" });
  assertEquals(new Headers(sent[1]?.init.headers).has("static-device"), false);
});

Deno.test("callApi() returns a refusal with status, code, text, request id, waiting time and details", async () => {
  const body = {
    error: "The request has invalid fields",
    code: "invalid_request",
    request_id: "r-1",
    details: [{ field: "name", problem: "is too long" }],
  };
  const { access } = apiThat(() =>
    Response.json(body, { status: 400, headers: { "retry-after": "7" } })
  );
  assertEquals(await callApi(access, call), {
    outcome: "refused",
    status: 400,
    code: "invalid_request",
    text: "The request has invalid fields",
    requestId: "r-1",
    retryAfterMs: 7000,
    details: [{ field: "name", problem: "is too long" }],
  });
});

const foreign: readonly [what: string, response: () => Response][] = [
  ["a page", () => new Response("<html>", { status: 502 })],
  ["nothing", () => new Response(null, { status: 502 })],
  [
    "other types",
    () => Response.json({ error: 1, code: [], request_id: {}, details: "x" }, { status: 502 }),
  ],
  [
    "a date to wait for",
    () =>
      new Response("", {
        status: 502,
        headers: { "retry-after": "Sun, 15 Nov 2026 00:00:00 GMT" },
      }),
  ],
  [
    "more than the limit",
    () => new Response(JSON.stringify({ code: "x".repeat(2_000_000) }), { status: 502 }),
  ],
];
for (const [what, response] of foreign) {
  Deno.test(`callApi() returns a refusal without a code for a status of somebody else with ${what}`, async () => {
    const { access } = apiThat(response);
    const none = {
      code: undefined,
      text: undefined,
      requestId: undefined,
      retryAfterMs: undefined,
      details: [],
    };
    assertEquals(await callApi(access, call), { outcome: "refused", status: 502, ...none });
  });
}

Deno.test("callApi() returns no secret, even when the other side repeats it", async () => {
  const echo = `${credential} ${password} ${credential}`;
  const body = {
    error: echo,
    code: echo,
    request_id: echo,
    details: [{ field: echo, problem: echo }],
  };
  const { access } = apiThat(() => Response.json(body, { status: 400 }));
  const answer = await callApi(access, call);
  assert(answer.outcome === "refused");
  assertEquals(answer.text, "[secret] [secret] [secret]");
  assert(!JSON.stringify(answer).includes("canary"));
});

Deno.test("callApi() keeps a credential that no header can carry out of its error", async () => {
  const { access, sent } = apiThat(() => Response.json({}));
  for (const bad of ["canary\nx: y", "canary\u20ac", ""]) {
    const error = await assertRejects(
      () => callApi(access, { ...call, credential: bad }),
      TypeError,
      "characters",
    );
    assert(!error.message.includes("canary"));
  }
  assertEquals(sent, []);
});

Deno.test("callApi() reads an answer only up to its limit", async () => {
  let readBytes = 0;
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    readBytes += 1024;
    controller.enqueue(new Uint8Array(1024).fill(0x20));
  };
  const { access } = apiThat(() => new Response(new ReadableStream({ pull })));
  const answer = await callApi(access, { ...call, maxAnswerLength: 10_000 });
  assertEquals(answer, { outcome: "unusable", status: 200, problem: "an answer that is too long" });
  assert(readBytes < 20_000, String(readBytes));
});

Deno.test("callApi() returns what a parser says of a success that is not the API's", async () => {
  const { access } = apiThat(() => new Response("<html>"));
  const parse = (json: unknown): never => {
    throw new UnusableAnswer(`an answer of type ${typeof json}`);
  };
  const problem = "an answer of type undefined";
  assertEquals(await callApi(access, { ...call, parse }), {
    outcome: "unusable",
    status: 200,
    problem,
  });
});

Deno.test("callApi() returns why there was no answer: no connection, an end in the middle, the signal", async () => {
  const refused = new TypeError("connection refused");
  assertEquals(await callApi(apiThat(() => Promise.reject(refused)).access, call), {
    outcome: "unreachable",
    cause: refused,
  });

  const cut = new TypeError("connection reset");
  const start = (controller: ReadableStreamDefaultController<Uint8Array>): void =>
    controller.error(cut);
  const { access } = apiThat(() => new Response(new ReadableStream({ start })));
  assertEquals(await callApi(access, call), { outcome: "unreachable", cause: cut });

  const ending = new AbortController();
  const silent = apiThat(({ signal }) =>
    new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)))
  );
  const answer = callApi({ ...silent.access, signal: ending.signal }, call);
  const late = new Error("too late");
  ending.abort(late);
  assertEquals(await answer, { outcome: "unreachable", cause: late });
});

Deno.test("parseApiUrl() returns the address without slash, user, query or fragment", () => {
  const urls = [
    "https://api.test",
    "https://api.test/",
    "https://u:p@api.test/?a#b",
    "https://api.test/static//",
  ];
  assertEquals(urls.map(parseApiUrl), [
    "https://api.test",
    "https://api.test",
    "https://api.test",
    "https://api.test/static",
  ]);
});

Deno.test("parseApiUrl() accepts plain HTTP only for this machine", () => {
  const here = [
    "http://localhost:8080",
    "http://127.0.0.1:8080",
    "http://127.9.9.9",
    "http://[::1]:8080",
  ];
  assertEquals(here.map(parseApiUrl), here);
  const elsewhere = [
    "http://api.test",
    "http://127.0.0.1.evil.test",
    "http://localhost.test",
    "ftp://localhost",
    "x",
    "",
  ];
  assertEquals(elsewhere.map(parseApiUrl), elsewhere.map(() => undefined));
  assertEquals(["http://localhost:1", "https://api.test"].map(isLoopback), [true, false]);
});

Deno.test("isSameApi() compares addresses, not texts, and takes one that cannot be used for no other", () => {
  const same = [
    "https://api.test",
    "https://api.test/",
    "https://API.test:443/",
    "https://api.test/?a",
  ];
  for (const one of same) {
    for (const other of same) assertEquals(isSameApi(one, other), true, `${one} ${other}`);
  }
  const others = [
    "https://api.test:444",
    "https://api.test/a",
    "https://api.test.evil",
    "http://api.test",
    "x",
    undefined,
  ];
  for (const other of others) assertEquals(isSameApi("https://api.test", other), false, other);
  assertEquals([isSameApi("x", "x"), isSameApi("x", "y"), isSameApi(undefined, undefined)], [
    true,
    false,
    false,
  ]);
});
