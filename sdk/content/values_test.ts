import { assertThrows } from "@std/assert";
import { InvalidArgumentError } from "../base/errors.ts";
import { bodyOf } from "./values.ts";

Deno.test("a value that JSON has no form of is the caller's mistake", () => {
  const cyclic: unknown[] = [];
  cyclic.push(cyclic);
  for (const json of [1n, cyclic, () => {}, undefined]) {
    assertThrows(() => bodyOf({ json }), InvalidArgumentError);
  }
});
