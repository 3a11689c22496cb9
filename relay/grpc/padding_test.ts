import { toBinary } from "@bufbuild/protobuf";
import { assertEquals } from "@std/assert";
import { Relay, replyFromMessage, replyToMessage } from "../../proto/wire/grpc.ts";
import { padMessage } from "./padding.ts";

const schema = Relay.method.addMember.output;

Deno.test("a padded reply has the length of whole cells, whatever it carries, and still means the same", () => {
  for (let length = 1; length < 9_000; length += length < 300 || length % 1024 > 1000 ? 1 : 13) {
    const reply = { keyPackage: new Uint8Array(length).fill(1), lastResort: true };
    const padded = padMessage(schema, replyToMessage("AddMember", reply), 1024);
    assertEquals(toBinary(schema, padded).length % 1024, 0, `${length} bytes`);
    assertEquals(replyFromMessage("AddMember", padded), reply);
  }
});

Deno.test("padding adds less than a cell, except to the few lengths where no padding field fits", () => {
  const more: number[] = [];
  for (let length = 1; length < 10 * 1024; length++) {
    const message = replyToMessage("AddMember", {
      keyPackage: new Uint8Array(length),
      lastResort: false,
    });
    const bare = toBinary(schema, message).length;
    const added = toBinary(schema, padMessage(schema, message, 1024)).length - bare;
    if (added >= 1024) more.push(bare % 1024);
  }
  // One and two bytes short hold no field; 130 short would need 128 bytes, whose length takes one
  // byte more.
  assertEquals([...new Set(more)].sort((a, b) => a - b), [894, 1022, 1023]);
});
