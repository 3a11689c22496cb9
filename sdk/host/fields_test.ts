// Headers that a program may have made badly, read by a shape of the table.
import { assertEquals, assertThrows } from "@std/assert";
import {
  choice,
  flag,
  list,
  map,
  number,
  object,
  optional,
  text,
  whole,
} from "../../proto/host/fields.ts";
import { StaticError } from "../base/errors.ts";
import { HeaderFields } from "./fields.ts";

const few = {
  min: 1,
  max: 2,
  refusal: (field: string, value: number): string => `${field}: 1 to 2, not ${value}`,
};
const shape = {
  name: text(),
  parts: list({ size: number() }, { limits: few }),
  count: optional(whole(few)),
  to: optional(choice(["owner", "member"])),
  words: optional(map()),
  guest: optional(object({ web: optional(flag()) })),
};
const good = { name: "a", parts: [{ size: 1 }] };
const read = (more: Record<string, unknown>): unknown =>
  new HeaderFields({ ...good, ...more }).read(shape);

Deno.test("a header is read by its shape: what it does not know is left out, and null is nothing", () => {
  assertEquals(read({ other: 1, id: 7, count: null }), good);
  const all = { count: 2, to: "owner", words: { a: "b" }, guest: { web: true } };
  assertEquals(read(all), { ...good, ...all });
  assertEquals(read({ parts: [{ size: 1, other: 2 }], guest: { other: 1 } }), {
    ...good,
    guest: {},
  });
});

Deno.test("fields that every object has are not fields of a header", () => {
  const inherited = { toString: optional(text()), constructor: optional(text()) };
  assertEquals(Object.keys(new HeaderFields({}).read(inherited)), []);
  assertThrows(
    () => new HeaderFields({}).read({ valueOf: text() }),
    StaticError,
    'The field "valueOf" must be text',
  );
});

Deno.test("a field of a wrong kind is refused by its name, and a list by its length before its items", () => {
  const wrong: readonly [Record<string, unknown>, string][] = [
    [{ name: 5 }, 'The field "name" must be text'],
    [{ name: null }, 'The field "name" must be text'],
    [{ parts: {} }, 'The field "parts" must be a list of objects'],
    [{ parts: null }, "parts: 1 to 2, not 0"],
    [{ parts: Array(3).fill("no object") }, "parts: 1 to 2, not 3"],
    [{ parts: [{ size: "1" }] }, 'The field "size" must be a number'],
    [{ count: 0 }, "count: 1 to 2, not 0"],
    [{ count: 1.5 }, "count: 1 to 2, not 1.5"],
    [{ count: "1" }, 'The field "count" must be a number'],
    [{ to: "king" }, 'The field "to" must be one of owner, member'],
    [{ words: { a: 1 } }, 'The field "a" must be text'],
    [{ guest: [] }, 'The field "guest" must be an object'],
    [{ guest: { web: 1 } }, 'The field "web" must be true or false'],
  ];
  for (const [more, message] of wrong) assertThrows(() => read(more), StaticError, message);
});
