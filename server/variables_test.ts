import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { ConfigError, readVariables, type VariableReader } from "./variables.ts";

function readFrom<Config>(
  variables: Readonly<Record<string, string>>,
  read: (reader: VariableReader) => Config,
): Config {
  return readVariables({ what: "the server", variable: (name) => variables[name] }, read);
}

const readAll = (read: VariableReader): unknown => ({
  number: read.integer("NUMBER", 7, { min: 1, max: 10 }),
  port: read.port("PORT", 8080),
  choice: read.choice("CHOICE", ["first", "second"]),
  flag: read.flag("FLAG"),
  secret: read.secret("SECRET", 8),
  list: read.list("LIST", (text) => /^\d$/.test(text) ? Number(text) : undefined, "a digit"),
  files: read.together("CERT", "KEY"),
  file: read.file("FILE"),
});

Deno.test("an absent or empty variable is its fallback", () => {
  const absent = readFrom({}, readAll);
  assertEquals(
    absent,
    readFrom({ NUMBER: "", PORT: "", CHOICE: "", SECRET: "", LIST: "", FILE: "" }, readAll),
  );
  const nothing = { secret: undefined, list: undefined, files: undefined, file: undefined };
  assertEquals(absent, { number: 7, port: 8080, choice: "first", flag: false, ...nothing });
});

Deno.test("every bad value stops the start: all variables are named with what is expected, none with its value", () => {
  const bad = {
    NUMBER: "11",
    PORT: "canary",
    CHOICE: "canary",
    FLAG: "yes",
    SECRET: "canary",
    LIST: "1,canary,2",
    CERT: "canary.pem",
    FILE: "/nonexistent/canary",
  };
  const { faults, message } = assertThrows(
    () => readFrom(bad, readAll),
    ConfigError,
    "Cannot start the server: 8 fault",
  );
  assertEquals(faults, [
    "NUMBER must be a whole number from 1 to 10",
    "PORT must be a whole number from 0 to 65535",
    "CHOICE must be first or second",
    "FLAG must be false or true",
    "SECRET must be at least 8 characters without white space",
    "LIST must be a list of which each item is a digit",
    "CERT and KEY must be set together or not at all",
    "FILE must be the path of a readable file (NotFound)",
  ]);
  for (const fault of faults) assertStringIncludes(message, `\n  - ${fault}`);
  assert(!message.includes("canary"));
});

Deno.test("a whole number is digits within its bounds and nothing else", () => {
  const read = (text: string): unknown =>
    readFrom({ NUMBER: text }, (reader) => reader.integer("NUMBER", 0, { min: 0, max: 100 }));
  assertEquals(["0", "007", "100"].map(read), [0, 7, 100]);
  for (const text of ["101", "-1", "1e1", "0x1", " 1", "1.0", "∞", "9".repeat(17)]) {
    assertThrows(() => read(text), ConfigError, "NUMBER must be a whole number from 0 to 100");
  }
});

Deno.test("while faults are looked for, reading goes on with usable values", () => {
  const seen: unknown[] = [];
  assertThrows(() =>
    readFrom({ NUMBER: "x", LIST: "x", SECRET: "x" }, (read) => {
      seen.push(read.integer("NUMBER", 3, { min: 1, max: 5 }), read.secret("SECRET", 8));
      seen.push(read.list("LIST", () => undefined, "nothing"));
    }), ConfigError);
  assertEquals(seen, [3, undefined, undefined]);
});

Deno.test("a name that no part knows is one of the faults", () => {
  const names = ["STATIC_API_URL", ["STATIC", "API_ULR"].join("_")];
  const read = (): unknown =>
    readVariables({ what: "the server", variable: () => "canary", names }, () => undefined);
  const { faults } = assertThrows(read, ConfigError, "Cannot start the server: 1 fault(s)");
  assertEquals(faults.length, 1);
  assertStringIncludes(
    faults[0] ?? "",
    "is not a variable of Static. The nearest is STATIC_API_URL.",
  );
});

Deno.test("an address in the place of a port is what Kubernetes makes of a Service, and said to be", () => {
  for (const address of ["tcp://10.96.0.7:8080", "udp://10.96.0.7:4433"]) {
    const { faults } = assertThrows(
      () => readFrom({ PORT: address }, (read) => read.port("PORT", 8080)),
      ConfigError,
    );
    assertEquals(faults, [
      "PORT must be a port, and is an address, as Kubernetes sets it for a Service of that name. Give the pod enableServiceLinks: false",
    ]);
  }
});

Deno.test("a secret may be in a file, without the line's end, and a file that cannot be read stops the start", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/secret`, "a long secret\n".replaceAll(" ", "-"));
    const read = (text: string): string | undefined =>
      readFrom({ SECRET: text }, (reader) => reader.secret("SECRET", 8))?.reveal();
    assertEquals(read(`file:${folder}/secret`), "a-long-secret");
    await Deno.writeTextFile(`${folder}/short`, "canary\n");
    for (
      const [path, fault] of [
        [`${folder}/short`, "SECRET must be at least 8 characters without white space"],
        [`${folder}/none`, "SECRET must be file: and the path of a readable file (NotFound)"],
        [folder, "SECRET must be file: and the path of a readable file (IsADirectory)"],
      ] as const
    ) {
      const { faults } = assertThrows(() => read(`file:${path}`), ConfigError);
      assertEquals(faults, [fault]);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
