import { assertEquals } from "@std/assert";
import { paddingField } from "./convert.ts";
import { DeliverySchema, ErrorDetailSchema, Relay } from "./gen/relay_pb.ts";
import { calls, notices } from "./operations.ts";

/** Operations that carry cells, or open the stream of notices, instead of being envelopes themselves. */
const streams = ["Deliver", "Session", "CellUp", "CellDown"];
/** Every operation that the interface names. */
const namedByInterface = [
  ...["CreateChannel", "UploadKeyPackage", "AddMember", "SendCommit", "SendWelcome", "SendMessage"],
  ...["DeliverMessage", "DeliverWelcome", "DeliverCommit"],
];

Deno.test("every rpc is a call and every call an rpc, except the streams of cells and notices", () => {
  const rpcs = Relay.methods.map(({ name }) => name).filter((name) => !streams.includes(name));
  assertEquals(rpcs.sort(), Object.keys(calls).sort());
});

Deno.test("every operation of the interface exists", () => {
  const names = [...Object.keys(calls), ...Object.keys(notices)];
  assertEquals(namedByInterface.filter((name) => !names.includes(name)), []);
});

Deno.test("every notice has its case in Delivery", () => {
  const messages = DeliverySchema.fields.flatMap(({ message }) => message === undefined ? [] : [message.name]);
  assertEquals(messages.sort(), Object.keys(notices).sort());
});

Deno.test("operation numbers are unique, and calls and notices do not overlap", () => {
  const numbers = [...Object.values(calls), ...Object.values(notices)].map(({ number }) => number);
  assertEquals(new Set(numbers).size, numbers.length);
});

Deno.test("every request, reply and delivery has room for padding", () => {
  const typed = new Set([...Relay.methods.flatMap(({ input, output }) => [input, output]), ErrorDetailSchema]);
  // These have one size by construction: a cell, and with CellUp its link and a fixed-width index.
  const without = [...typed].filter(({ fields }) => !fields.some(({ number }) => number === paddingField));
  assertEquals(without.map(({ name }) => name), ["Cell", "CellUpRequest"]);
});
