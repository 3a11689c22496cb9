// Programs of a shell that begin well, badly, or not at all.
import { assert, assertEquals } from "@std/assert";
import { startChild } from "../platform/child_program.ts";
import { type OfferedTool, Program } from "./program.ts";
import { hashOf } from "./tool_serving.ts";

const result = (id: number, value: object): string =>
  JSON.stringify({ jsonrpc: "2.0", id, result: value });
const tools = { tools: [{ name: "add", description: "", inputSchema: { type: "object" } }] };
const line = (text: string): string => `printf '%s\\n' '${text}'`;
/** Waits for a line, and answers the beginning. */
const opened = `read x; ${line(result(1, {}))}; read x; read x; ${line(result(2, tools))}`;

interface Heard {
  readonly tools: OfferedTool[][];
  readonly said: string[];
  readonly ended: string[];
}

/** Until it ends. */
async function run(script: string, act: (program: Program) => void = () => {}): Promise<Heard> {
  const heard: Heard = { tools: [], said: [], ended: [] };
  const child = startChild(["sh", "-c", script], { variables: {}, without: () => false });
  await new Promise<void>((resolve) => {
    const program = new Program({ child, hash: hashOf, version: "1" }, {
      onTools: (all) => {
        heard.tools.push([...all]);
        act(program);
      },
      onSaid: (call, said) => heard.said.push(`${call} ${said}`),
      onEnded: (why) => {
        heard.ended.push(why);
        resolve();
      },
    });
  });
  return heard;
}

Deno.test("a program tells its tools, answers calls, and is told what is cancelled", async () => {
  const echo = `read x; echo "$x" | sed 's/"id":3.*/"id":3,"result":{"a":1}}/'; read x; read x; ` +
    `echo "$x" >&2; ${line(result(4, {}))}; ${line(result(3, {}))}; ${line(result(77, {}))}`;
  const { tools: told, said, ended } = await run(`${opened}; ${echo} 2>/dev/null`, (program) => {
    program.call("a1", "add", { one: 1 });
    program.call("a2", "add", {});
    program.cancel("a2");
  });
  assertEquals(told.map((all) => all.map(({ name }) => name)), [["add"]]);
  assertEquals(said, ['a1 {"jsonrpc":"2.0","id":1,"result":{"a":1}}']);
  assertEquals(ended, ["it has ended"]);
});

Deno.test("what a program prints besides is not heard, and nobody here is asked", async () => {
  const asks = JSON.stringify({ jsonrpc: "2.0", id: 9, method: "sampling/createMessage" });
  const noise = ["no message", "[]", "7", `{"id":5}`, `{"id":"5","result":{}}`].map(line).join(";");
  const { tools: told } = await run(
    `${noise}; ${line(asks)}; read x; read refused; ${line(result(1, {}))}; read x; read x; ` +
      `case "$refused" in *-32601*) ${line(result(2, tools))};; esac`,
  );
  assertEquals(told.length, 1);
});

Deno.test("one that does not begin, or says too much, ends and says why", async () => {
  assertEquals((await run("read x; exit 3")).ended, ["it has ended"]);
  const refuses = JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code: 1, message: "no" } });
  assertEquals((await run(`read x; ${line(refuses)}; read x`)).ended, [
    "it does not tell its tools",
  ]);
  const [why = ""] = (await run("head -c 6000000 /dev/zero | tr '\\\\0' x; sleep 60")).ended;
  assert(why.includes("a line without an end"), why);
  const child = startChild(["/no/such/program"], { variables: {}, without: () => false });
  const gone = await new Promise<string>((onEnded) => {
    new Program({ child, hash: hashOf, version: "1" }, {
      onTools: () => {},
      onSaid: () => {},
      onEnded,
    });
  });
  assert(gone.includes("ENOENT"), gone);
});

Deno.test("a program gets the variables that are for it", async () => {
  Deno.env.set("STATIC_API_KEY", "psst");
  const child = startChild(["sh", "-c", "env | grep ^STATIC_"], {
    variables: { STATIC_SENDER: "me" },
    without: (name) => name.startsWith("STATIC_"),
  });
  assertEquals(await Array.fromAsync(child.lines()), ["STATIC_SENDER=me"]);
  Deno.env.delete("STATIC_API_KEY");
});
