import { assertEquals } from "@std/assert";
import { openHttp } from "./node_http.ts";

Deno.test("HTTP in Node is not left to fetch, which may follow HTTP_PROXY: bodies and empty answers come through", async () => {
  const answer = async (request: Request): Promise<Response> => {
    if (request.method === "DELETE") return new Response(null, { status: 204 });
    return Response.json({ sent: await request.text(), key: request.headers.get("authorization") });
  };
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, answer);
  const url = `http://127.0.0.1:${server.addr.port}/`;
  const { fetch } = globalThis;
  globalThis.fetch = () => Promise.reject(new Error("fetch was asked"));
  try {
    const http = openHttp({ caCerts: [], certificateHashes: [] });
    const posted = await http.request(url, {
      method: "POST",
      body: "é",
      headers: { authorization: "Bearer key" },
    });
    assertEquals(await posted.json(), { sent: "é", key: "Bearer key" });
    const deleted = await http.request(url, { method: "DELETE" });
    assertEquals([deleted.status, await deleted.text()], [204, ""]);
    http.close();
  } finally {
    globalThis.fetch = fetch;
  }
});
