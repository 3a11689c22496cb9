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

for (const name of Object.keys(structs)) {
  Deno.test(`${name}: tables, relay.proto and docs/protocol_fields.md agree field by field`, () => {
    const isOfThis = (fault: string): boolean => /^. (\w+)/.exec(fault)?.[1] === name;
    assertEquals([...faultsOfProto(proto), ...faultsOfPage(page)].filter(isOfThis), []);
  });
}

Deno.test("relay.proto and docs/protocol_fields.md have no message that the tables do not have", () => {
  assertEquals([...faultsOfProto(proto), ...faultsOfPage(page)], []);
});

Deno.test("a field of relay.proto that is renamed, renumbered, of another type or rule, or gone is noticed", () => {
  const fields = [...proto.matchAll(/^ {2}(optional |repeated )?(\w+) (\w+) = (\d+);$/gm)]
    .filter(([, , type, , number]) => number !== "15" && type !== "fixed64");
  let changes = 0;
  for (const { 0: line, 1: rule = "", 2: type, 3: field, 4: number, index } of fields) {
    const message = /.*^message (\w+)/ms.exec(proto.slice(0, index))?.[1] ?? "";
    if (streams.includes(message)) continue;
    const altered = [
      `  ${rule}${type} ${field}_x = ${number};`,
      `  ${rule}${type} ${field} = ${Number(number) + 20};`,
      `  ${rule}${type === "bytes" ? "string" : "bytes"} ${field} = ${number};`,
      `  ${rule === "" ? "optional " : ""}${type} ${field} = ${number};`,
      "",
    ];
    for (const other of altered) {
      const text = proto.slice(0, index) + other + proto.slice(index + line.length);
      assert(faultsOfProto(text).some((fault) => fault.includes(`${message}.${field}`)), `${message}: ${other}`);
      changes++;
    }
  }
  assert(changes > 900, String(changes));
});

Deno.test("a row of docs/protocol_fields.md that differs or is gone is noticed, its sizes included", () => {
  const rows = [...page.slice(0, page.indexOf("## Limits")).matchAll(/^\| (\w+)\s*\| (\d+)\s*\| (.+?)\s*\|$/gm)];
  assert(rows.length > 200, String(rows.length));
  for (const { 0: row, 1: field = "", 2: key, 3: type, index } of rows) {
    const altered = [
      `| ${field}_x | ${key} | ${type} |`,
      `| ${field} | ${key}0 | ${type} |`,
      `| ${field} | ${key} | ${type}, 1 |`,
      "",
    ];
    for (const other of altered) {
      const faults = faultsOfPage(page.slice(0, index) + other + page.slice(index + row.length));
      assert(faults.some((fault) => fault.includes(`.${field} = ${key}`)), other);
    }
  }
});

Deno.test("a field of the tables that is gone, new, renumbered, or changed in optionality is noticed twice", () => {
  for (const [name, struct] of Object.entries(structs)) {
    for (const [field, [key, schema]] of Object.entries(struct.shape)) {
      const { [field]: _, ...rest } = struct.shape;
      const shapes: AnyStruct["shape"][] = [
        rest,
        { ...struct.shape, [`${field}More`]: [key + 20, schema] },
        { ...rest, [field]: [key + 20, schema] },
        { ...rest, [field]: [key, { ...schema, optional: schema.optional !== true }] },
      ];
      for (const shape of shapes) {
        const tables = { ...structs, [name]: { ...struct, shape } };
        assert(faultsOfPage(page, tables).length > 0, `${name}.${field} on the page`);
        if (!cborOnly.includes(name)) {
          assert(faultsOfProto(proto, tables).length > 0, `${name}.${field} in relay.proto`);
        }
      }
    }
  }
});

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
