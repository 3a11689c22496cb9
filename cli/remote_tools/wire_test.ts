import { assert, assertEquals } from "@std/assert";
import { errorCodes, parseAnswer, parseRequest, RpcFault } from "./wire.ts";

function codeOf(act: () => unknown): number | undefined {
  try {
    act();
  } catch (error) {
    assert(error instanceof RpcFault, String(error));
    return error.code;
  }
  return undefined;
}

Deno.test("parseRequest() reads the three methods, with what they need and no more", () => {
  const rpc = (rest: object): string => JSON.stringify({ jsonrpc: "2.0", id: 1, ...rest });
  assertEquals(parseRequest(rpc({ method: "tools/list", params: { cursor: "x" } })), {
    method: "tools/list",
  });
  const params = { name: "add", arguments: { one: 1 }, _meta: { "static/version": "7", x: 1 } };
  assertEquals(parseRequest(rpc({ method: "tools/call", params })), {
    method: "tools/call",
    name: "add",
    arguments: { one: 1 },
    version: "7",
  });
  const bare = parseRequest(rpc({ method: "tools/call", params: { name: "add" } }));
  assertEquals(bare, { method: "tools/call", name: "add", arguments: {}, version: undefined });
  const odd = { name: "add", arguments: { __proto__: 1 }, _meta: [1] };
  assertEquals(
    Reflect.get(parseRequest(rpc({ method: "tools/call", params: odd })), "version"),
    undefined,
  );
});

Deno.test("parseRequest() and parseAnswer() refuse what is nested without end, at once", () => {
  const open = '{"a":[';
  for (const text of [`${open.repeat(1e5)}1${"]}".repeat(1e5)}`, `${"[".repeat(5e5)}`]) {
    const code = codeOf(() => parseRequest(text));
    assert(code === errorCodes.parse || code === errorCodes.invalidRequest, String(code));
    assert(codeOf(() => parseAnswer(text)) !== undefined);
  }
});

Deno.test("parseAnswer() reads results and errors, and nothing else", () => {
  assertEquals(parseAnswer('{"result":{"a":1}}'), { ok: true, result: { a: 1 } });
  assertEquals(parseAnswer('{"error":{"code":-1,"message":"no"},"result":{}}'), {
    ok: false,
    code: -1,
    message: "no",
  });
  assertEquals(parseAnswer('{"error":{"code":"x","message":[1]}}'), {
    ok: false,
    code: errorCodes.internal,
    message: "",
  });
  for (
    const text of ["", "1", "null", "[]", "{}", '{"result":1}', '{"result":[]}', '{"error":1}']
  ) {
    assert(codeOf(() => parseAnswer(text)) !== undefined, text);
  }
});
