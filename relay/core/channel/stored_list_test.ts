import { assertEquals, assertThrows } from "@std/assert";
import { encodeCbor } from "../../../proto/mod.ts";
import { EngineError } from "../../engine/errors.ts";
import { decodeList, encodeList, type ListFormat } from "./stored_list.ts";

const first: ListFormat = { what: "thing", steps: [] };
const third: ListFormat = {
  ...first,
  steps: [(fields) => [...fields, "b"], (fields) => [...fields, "c"]],
};

Deno.test("a list of any version is read as one of the newest, step by step", () => {
  assertEquals(decodeList(first, encodeList(first, ["a"])), ["a"]);
  assertEquals(decodeList(third, encodeList(first, ["a"])), ["a", "b", "c"]);
  assertEquals(
    decodeList(third, encodeList({ ...third, steps: third.steps.slice(0, 1) }, ["a", "x"])),
    [
      "a",
      "x",
      "c",
    ],
  );
  assertEquals(decodeList(third, encodeList(third, ["a", "x", "y"])), ["a", "x", "y"]);
});

Deno.test("a list of a newer version, or without one, is refused with what to do", () => {
  for (
    const bytes of [encodeList(third, ["a", "b", "c"]), encodeCbor([0, "a"]), encodeCbor(["a"])]
  ) {
    const error = assertThrows(
      () => decodeList(first, bytes),
      EngineError,
      "Start the relay that wrote it",
    );
    assertEquals(error.code, "unsupported_version");
  }
  assertThrows(() => decodeList(first, encodeCbor("a")), TypeError, "damaged");
});
