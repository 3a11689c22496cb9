import { assertEquals, assertRejects } from "@std/assert";
import { readAdminAddress, serveAdmin } from "./admin.ts";
import { PortTaken } from "./taken_port.ts";
import { readVariables } from "./variables.ts";

Deno.test("the admin port shows metrics and nothing else, and a taken one is named with its variable", async () => {
  const admin = await serveAdmin({ host: "127.0.0.1", port: 0 }, () => "static_up 1\n");
  const metrics = await fetch(`${admin.url}/metrics`);
  assertEquals([metrics.headers.get("content-type"), await metrics.text()], [
    "text/plain; version=0.0.4; charset=utf-8",
    "static_up 1\n",
  ]);
  const other = await fetch(`${admin.url}/`);
  assertEquals([other.status, await other.text()], [404, "Not found\n"]);
  const port = Number(new URL(admin.url).port);
  await assertRejects(
    () => serveAdmin({ host: "127.0.0.1", port }, () => ""),
    PortTaken,
    `port ${port} is taken. Stop what uses it, or set STATIC_ADMIN_PORT to another port`,
  );
  await admin.close();
});

Deno.test("the admin port is on loopback unless told, and can be off", () => {
  const read = (variables: Readonly<Record<string, string>>): unknown =>
    readVariables("the server", (name) => variables[name], (reader) => readAdminAddress(reader, 9464));
  assertEquals(read({}), { host: "127.0.0.1", port: 9464 });
  assertEquals(read({ STATIC_ADMIN_HOST: "::1", STATIC_ADMIN_PORT: "1" }), { host: "::1", port: 1 });
  assertEquals(read({ STATIC_ADMIN_PORT: "off" }), undefined);
});
