import { assertEquals, assertRejects } from "@std/assert";
import { openHttp } from "./deno_http.ts";

Deno.test("openHttp() refuses a request after close(), which would leave a client open", async () => {
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => new Response("here"),
  );
  const url = `http://127.0.0.1:${server.addr.port}/`;
  const http = openHttp({ caCerts: [], certificateHashes: [] });
  assertEquals(await (await http.request(url, {})).text(), "here");
  http.close();
  await assertRejects(() => http.request(url, {}).then((answer) => answer.text()), Error, "closed");
});
