import { assert, assertEquals } from "@std/assert";
import { type AnyStruct, limits } from "../proto/mod.ts";
import {
  type Contract,
  contractOfPage,
  contractOfProto,
  contractOfTables,
  differences,
  limitsOfPage,
  structs,
  withoutSizes,
} from "./contract.ts";

const read = (path: string): string => Deno.readTextFileSync(new URL(`../${path}`, import.meta.url));
const proto = read("proto/relay.proto");
const page = read("docs/protocol_fields.md");
const prose = read("docs/protocol.md").replace(/\s+/g, " ");

/** They carry cells or open the stream of notices, and are no envelopes. */
const streams = ["DeliverRequest", "Delivery", "Cell", "CellUpRequest", "CellUpReply", "CellDownRequest"];
/** In an envelope's bytes only. */
const cborOnly = ["CreatorWelcome"];

function omit(contract: Contract, names: readonly string[]): Contract {
  return new Map([...contract].filter(([name]) => !names.includes(name)));
}

function faultsOfProto(text: string, tables = structs): string[] {
  const bare = new Map([...contractOfTables(tables)].map(([name, rows]) => [name, rows.map(withoutSizes)]));
  return differences(omit(bare, cborOnly), omit(contractOfProto(text), streams));
}

function faultsOfPage(text: string, tables = structs): string[] {
  return differences(contractOfTables(tables), contractOfPage(text));
}

const faults = [...faultsOfProto(proto), ...faultsOfPage(page)];

for (const name of Object.keys(structs)) {
  Deno.test(`${name}: tables, relay.proto and docs/protocol_fields.md agree field by field`, () => {
    const isOfThis = (fault: string): boolean => /^. (\w+)/.exec(fault)?.[1] === name;
    assertEquals(faults.filter(isOfThis), []);
  });
}

Deno.test("relay.proto and docs/protocol_fields.md have no message that the tables do not have", () => {
  assertEquals(faults, []);
});

/** A line with a field of `relay.proto`, in its parts. */
interface ProtoField {
  readonly message: string;
  readonly rule: string;
  readonly type: string;
  readonly field: string;
  readonly number: number;
}

/** The whole text, with the line of each field as `change` says; and the fields. Those of `streams` stay. */
function changeProto(change: (field: ProtoField) => string): { readonly text: string; readonly fields: ProtoField[] } {
  const fields: ProtoField[] = [];
  let message = "";
  const lines = proto.split("\n").map((line) => {
    message = /^message (\w+)/.exec(line)?.[1] ?? message;
    const [, rule = "", type = "", field = "", number] =
      /^ {2}(optional |repeated )?(\w+) (\w+) = (\d+);$/.exec(line) ?? [];
    if (number === undefined || number === "15" || type === "fixed64" || streams.includes(message)) return line;
    const one = { message, rule, type, field, number: Number(number) };
    fields.push(one);
    return change(one);
  });
  return { text: lines.join("\n"), fields };
}

const protoChanges: Readonly<Record<string, (field: ProtoField) => string>> = {
  renamed: ({ rule, type, field, number }) => `  ${rule}${type} ${field}_x = ${number};`,
  renumbered: ({ rule, type, field, number }) => `  ${rule}${type} ${field} = ${number + 20};`,
  "of another type": ({ rule, type, field, number }) =>
    `  ${rule}${type === "bytes" ? "string" : "bytes"} ${field} = ${number};`,
  "of another rule": ({ rule, type, field, number }) =>
    `  ${rule === "" ? "optional " : ""}${type} ${field} = ${number};`,
  gone: () => "",
};

for (const [how, change] of Object.entries(protoChanges)) {
  Deno.test(`every field of relay.proto that is ${how} is noticed`, () => {
    const { text, fields } = changeProto(change);
    assert(fields.length > 180, String(fields.length));
    const noticed = new Set(faultsOfProto(text));
    for (const { message, field, number } of fields) {
      const isNoticed = noticed.values().some((fault) => fault.startsWith(`- ${message}.${field} = ${number}:`));
      assert(isNoticed, `${message}.${field}`);
    }
  });
}

const rowChanges: Readonly<Record<string, (field: string, key: string, type: string) => string>> = {
  renamed: (field, key, type) => `| ${field}_x | ${key} | ${type} |`,
  renumbered: (field, key, type) => `| ${field} | ${key}0 | ${type} |`,
  "of another size": (field, key, type) => `| ${field} | ${key} | ${type}, 1 |`,
  gone: () => "",
};

for (const [how, change] of Object.entries(rowChanges)) {
  Deno.test(`every row of docs/protocol_fields.md that is ${how} is noticed`, () => {
    let message = "";
    const rows: string[] = [];
    const lines = page.slice(0, page.indexOf("## Limits")).split("\n").map((line) => {
      message = /^### `(\w+)`/.exec(line)?.[1] ?? message;
      const [, field = "", key, type = ""] = /^\| (\w+)\s*\| (\d+)\s*\| (.+?)\s*\|$/.exec(line) ?? [];
      if (key === undefined) return line;
      rows.push(`- ${message}.${field} = ${key}: ${type}`);
      return change(field, key, type);
    });
    assert(rows.length > 200, String(rows.length));
    const noticed = new Set(faultsOfPage(lines.join("\n")));
    assertEquals(rows.filter((row) => !noticed.has(row)), []);
  });
}

type Shape = AnyStruct["shape"];
type Field = Shape[string];

/** Changes of a field of the tables: the fields that stand there then, by name. */
const tableChanges: Readonly<Record<string, (field: string, value: Field) => readonly (readonly [string, Field])[]>> = {
  gone: () => [],
  "there twice": (field, [key, schema]) => [[field, [key, schema]], [`${field}More`, [key + 20, schema]]],
  renumbered: (field, [key, schema]) => [[field, [key + 20, schema]]],
  "changed in optionality": (
    field,
    [key, schema],
  ) => [[field, [key, { ...schema, optional: schema.optional !== true }]]],
};

for (const [how, change] of Object.entries(tableChanges)) {
  Deno.test(`every field of the tables that is ${how} is noticed twice`, () => {
    const changed = ({ shape }: AnyStruct): Shape =>
      Object.fromEntries(Object.entries(shape).flatMap(([field, value]) => change(field, value)));
    const tables = Object.fromEntries(
      Object.entries(structs).map(([name, struct]) => [name, { ...struct, shape: changed(struct) }]),
    );
    const count = (faults: readonly string[], name: string): number =>
      faults.filter((fault) => new RegExp(`^[-+] ${name}\\.`).test(fault)).length;
    const [onPage, inProto] = [faultsOfPage(page, tables), faultsOfProto(proto, tables)];
    for (const [name, { shape }] of Object.entries(structs)) {
      const fields = Object.keys(shape).length;
      assert(count(onPage, name) >= fields, `${name} on the page`);
      if (!cborOnly.includes(name)) assert(count(inProto, name) >= fields, `${name} in relay.proto`);
    }
  });
}

Deno.test("docs/protocol_fields.md tells every limit as the code has it, and notices one that changes", () => {
  const code: Record<string, number> = { ...limits };
  assertEquals(limitsOfPage(page), code);
  for (const name of Object.keys(code)) {
    const value = code[name] ?? 0;
    const told = new RegExp(`^\\| ${name} .*$`, "m");
    assert(limitsOfPage(page.replace(told, `| ${name} | ${value + 1} |`))[name] !== value, name);
  }
});

const [KiB, MiB, dayMs] = [1024, 1024 * 1024, 86_400_000];

Deno.test("limits are those that were decided", () => {
  const decided = {
    payloadBytes: MiB,
    keyPackageBytes: 16 * KiB,
    commitBytes: 256 * KiB,
    welcomeBytes: 2 * MiB,
    membersPerChannel: 1000,
    queueBytesPerChannel: 64 * MiB,
    queueAgeMs: 7 * dayMs,
    cellBytes: 4096,
    challengeMs: 30_000,
    emailBytes: 254,
  };
  assertEquals({ ...limits, ...decided }, { ...limits });
});

Deno.test("docs/protocol.md tells limits as the code has them", () => {
  const grouped = (value: number): string => value.toLocaleString("en-US");
  const sentences = [
    `no envelope is longer than ${grouped(limits.envelopeBytes)} bytes`,
    `or ${grouped(limits.handshakeEnvelopeBytes)} before authentication`,
    `up to the cell's size (${limits.cellBytes} unless the relay says otherwise)`,
    `The first cell each way has ${limits.cellBytes} bytes`,
    `at most ${limits.cborDepth} levels deep`,
    `A value has at most ${grouped(limits.cborItems)} CBOR items`,
    `a nonce (single use, ${limits.challengeMs / 1000} s)`,
    `within ${limits.challengeMs / 1000} s of the challenge`,
    `the identity is at most ${limits.identityBytes} bytes`,
    `A KeyPackage is valid for at most ${limits.keyPackageLifetimeMs / dayMs} days`,
  ];
  assertEquals(sentences.filter((sentence) => !prose.includes(sentence)), []);
});
