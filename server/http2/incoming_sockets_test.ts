import { assertEquals, assertRejects } from "@std/assert";
import { createCertificate } from "../../tests/support/mod.ts";
import { createTlsServer, listen, type ListeningSockets, openOnEach } from "./incoming_sockets.ts";

/** Of documentation (RFC 3849): no machine has it, as a machine without IPv6 has no `::1`. */
const absent = "2001:db8::1";

/** `localhost` on a machine that lacks one of its addresses. */
async function openWithout(
  lacks: "the first" | "the second",
): Promise<readonly ListeningSockets[]> {
  const certificate = await createCertificate();
  return await openOnEach(
    { hostname: "localhost", port: 0 },
    ({ hostname, port }, isFirst) =>
      listen(createTlsServer(certificate), {
        hostname: isFirst === (lacks === "the first") ? absent : hostname,
        port,
      }),
  );
}

Deno.test("openOnEach() does without the second address on a machine that lacks it, and not without the first", async () => {
  const opened = await openWithout("the second");
  assertEquals(opened.length, 1);
  for (const listener of opened) await listener.close();
  await assertRejects(() => openWithout("the first"), Error, absent);
});
