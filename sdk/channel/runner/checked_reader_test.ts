import { assertEquals, assertRejects } from "@std/assert";
import { checkedReader } from "./checked_reader.ts";
import { createInbox, item } from "../testing/inbox.ts";

for (const fails of ["schema", "listener"] as const) {
  Deno.test(`a ${fails} that throws ends its loop, and the next loop is done with every message`, async () => {
    const { inbox } = createInbox();
    for (const each of [1, 2, 3].map((sequence) => item(sequence))) {
      inbox.push({ ...each, incoming: { ...each.incoming, body: new TextEncoder().encode("{}") } });
    }
    let isBroken = true;
    const parts = {
      isManual: false,
      schema: {
        "~standard": {
          version: 1,
          vendor: "test",
          validate: () => {
            if (isBroken && fails === "schema") throw new Error("a mistake");
            return { issues: [{ message: "another kind" }] };
          },
        },
      } as const,
      onSkipped: () => {
        if (isBroken && fails === "listener") throw new Error("a mistake");
      },
    };
    const broken = checkedReader(inbox.read(), parts);
    await assertRejects(() => broken.next(), Error, "a mistake");
    assertEquals(inbox.unread, 3);
    isBroken = false;
    const reader = checkedReader(inbox.read(), parts);
    inbox.end(undefined);
    assertEquals((await reader.next()).done, true);
    assertEquals([inbox.unread, (await broken.next()).done], [0, true]);
  });
}
