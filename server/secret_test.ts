import { assertEquals } from "@std/assert";
import { inspect } from "node:util";
import { Secret } from "./secret.ts";

Deno.test("a secret shows a placeholder however it is printed, and its text only when asked", () => {
  const secret = new Secret("canary");
  const prints = [
    `${secret}`,
    JSON.stringify({ secret }),
    Deno.inspect({ secret }),
    inspect({ secret }),
    String([secret]),
  ];
  for (const text of prints) {
    assertEquals([text.includes("canary"), text.includes("[secret]")], [false, true], text);
  }
  assertEquals(secret.reveal(), "canary");
});
