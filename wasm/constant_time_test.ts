/**
 * Constant time, observed: the checked-in module is instrumented so that it reports every memory address and every place
 * that execution passes, and is run with different secrets. What it reports must not differ. What remains to be trusted is
 * that a processor's own vector instructions take the same time for all operands.
 */
import { assert, assertEquals, assertGreater } from "@std/assert";
import { createRandom, type Random, seedFromEnvironment } from "../tests/support/mod.ts";
import { runNpmScript } from "../tools/npm.ts";
import { moduleBase64 } from "./gen/aes256gcm.ts";

const built = Uint8Array.from(atob(moduleBase64), (character) => character.charCodeAt(0));

/** Instructions whose duration may depend on operands, or that the argument in the source does not speak of. */
const forbidden =
  /\b(i32|i64)\.(div|rem)_|\bbr_table\b|\bcall_indirect\b|\b[fi](32|64)\.(sqrt|convert|trunc)|\bf(32|64)\.(?!const)/;

async function instrument(): Promise<{ module: WebAssembly.Module; text: string }> {
  const printed = await runNpmScript("instrument.ts", { input: built });
  const { text, module } = JSON.parse(new TextDecoder().decode(printed));
  return { module: new WebAssembly.Module(Uint8Array.fromBase64(module)), text };
}

const instrumented = instrument();

interface Trace {
  readonly events: number;
  readonly digest: number;
}

type Call = (...args: number[]) => number;

/** Runs one key setup, one seal and one open with secrets of given lengths, and digests all that was reported. */
function trace(module: WebAssembly.Module, random: Random, { text, aad }: { text: number; aad: number }): Trace {
  let [events, digest] = [0, 0x811c9dc5];
  const note = (...values: number[]): void => {
    events++;
    for (const value of values) digest = Math.imul(digest ^ value, 0x01000193);
  };
  const env: Record<string, (...args: number[]) => number | void> = {};
  for (const { name } of WebAssembly.Module.imports(module)) {
    env[name] = (...args) => args.at(-1);
  }
  env["log_execution"] = (place) => note(1, place ?? 0);
  env["load_ptr"] = (id, bytes, offset, address) => (note(2, id ?? 0, bytes ?? 0, offset ?? 0, address ?? 0), address);
  env["store_ptr"] = (id, bytes, offset, address) => (note(3, id ?? 0, bytes ?? 0, offset ?? 0, address ?? 0), address);
  const { exports } = new WebAssembly.Instance(module, { env });
  const call = (name: string, ...args: number[]): number => (exports[name] as Call)(...args);
  const at = (name: string): number => (exports[name] as WebAssembly.Global).value;
  const memory = new Uint8Array((exports["memory"] as WebAssembly.Memory).buffer);
  const context = at("contextsAt");

  memory.set(random.bytes(32), at("keyAt"));
  call("setKey", context);
  for (const seal of [true, false]) {
    memory.set(random.bytes(12), at("nonceAt"));
    call("begin", context);
    memory.set(random.bytes(aad), at("windowAt"));
    call("absorb", context, aad);
    memory.set(random.bytes(text + 16), at("windowAt"));
    if (seal) {
      call("crypt", context, text, 2);
      call("appendTag", context, text, aad, text);
    } else {
      assertEquals(call("checkTag", context, text, aad, text), 0);
      call("crypt", context, text, 2);
    }
    call("wipe", text);
  }
  return { events, digest };
}

Deno.test("the module contains no instruction whose duration is known to depend on its operands", async () => {
  const { text } = await instrumented;
  assertEquals(forbidden.exec(text)?.[0], undefined);
  assertGreater(text.match(/i8x16\.swizzle/g)?.length ?? 0, 50);
});

Deno.test("addresses and paths are the same for every key, nonce, text and associated data of one length", async () => {
  const { module } = await instrumented;
  const random = createRandom(seedFromEnvironment());
  for (const lengths of [{ text: 0, aad: 0 }, { text: 61, aad: 5 }, { text: 64, aad: 16 }, { text: 1000, aad: 300 }]) {
    const expected = trace(module, random, lengths);
    assertGreater(expected.events, 2000);
    for (let i = 0; i < 20; i++) {
      assertEquals(trace(module, random, lengths), expected, `seed ${random.seed}, ${JSON.stringify(lengths)}`);
    }
  }
});

Deno.test("the trace of another length differs, so the comparison can fail", async () => {
  const { module } = await instrumented;
  const random = createRandom(seedFromEnvironment());
  const [short, long] = [trace(module, random, { text: 60, aad: 5 }), trace(module, random, { text: 70, aad: 5 })];
  assert(short.digest !== long.digest && short.events < long.events);
});
