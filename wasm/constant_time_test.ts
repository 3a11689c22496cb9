/**
 * Constant time, observed: the checked-in modules that see secrets are instrumented so that they
 * report every memory address and every place that execution passes, and are run with different
 * secrets. The reports must not differ. The test trusts that a processor's own vector instructions,
 * and its multiplication, take the same time for all operands.
 */
import { assert, assertEquals, assertGreater } from "@std/assert";
import { createRandom, type Random, seedFromEnvironment } from "../tests/support/mod.ts";
import { runNpmScript } from "../tools/npm.ts";
import { moduleBase64 as aes256gcm } from "./gen/aes256gcm.ts";
import { moduleBase64 as chacha20poly1305 } from "./gen/chacha20poly1305.ts";
import { moduleBase64 as sha256 } from "./gen/sha256.ts";

/**
 * Instructions whose duration may depend on operands, or that the argument in the source does not
 * speak of.
 */
const forbidden =
  /\b(i32|i64)\.(div|rem)_|\bbr_table\b|\bcall_indirect\b|\b[fi](32|64)\.(sqrt|convert|trunc)|\bf(32|64)\.(?!const)/;

/**
 * Instructions whose addresses are not reported: loads that fill a vector with one value, and
 * fills.
 */
const unreported = /\b(v128\.load\d+_(splat|zero|lane)|memory\.(fill|copy|init))\b/g;
/**
 * The same with an address that is a constant, or a counter or length (with a constant added):
 * nothing that was loaded.
 */
const unreportedAtPublicAddress = new RegExp(
  `${unreported.source}[^\\n]*\\s+(?:\\(local\\.tee \\$\\d+\\s+)?` +
    String.raw`\((?:i32\.const|local\.get|i32\.add\s+\(local\.get \$\d+\)\s+\(i32\.const)`,
  "g",
);

interface Lengths {
  readonly text: number;
  readonly aad: number;
}

/** An instance of an instrumented module, with its memory. */
interface Instance {
  readonly memory: Uint8Array;
  call(name: string, ...args: number[]): number;
  at(name: string): number;
}

interface Subject {
  readonly module: string;
  /**
   * An instruction that must be there often, so that the search in the text is known to find what
   * it looks for.
   */
  readonly expected: RegExp;
  /** Reported even of empty texts, so that a module without its instruments is noticed. */
  readonly leastEvents: number;
  /** Runs everything that touches secrets, once. */
  run(instance: Instance, random: Random, lengths: Lengths): void;
}

const subjects: Readonly<Record<string, Subject>> = {
  aes256gcm: {
    module: aes256gcm,
    expected: /i8x16\.swizzle/g,
    leastEvents: 2000,
    run: runAes256Gcm,
  },
  chacha20poly1305: {
    module: chacha20poly1305,
    expected: /i64\.mul|i32x4\.add/g,
    leastEvents: 200,
    run: runChaCha20Poly1305,
  },
  sha256: { module: sha256, expected: /i32\.rotr|i32\.rotl/g, leastEvents: 200, run: runSha256 },
};

/** One key setup, one seal and one open. */
function runAes256Gcm(
  { memory, call, at }: Instance,
  random: Random,
  { text, aad }: Lengths,
): void {
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
}

/** One seal and one open. */
function runChaCha20Poly1305(
  { memory, call, at }: Instance,
  random: Random,
  { text, aad }: Lengths,
): void {
  for (const seal of [true, false]) {
    memory.set(random.bytes(32), at("keyAt"));
    memory.set(random.bytes(12), at("nonceAt"));
    call("begin");
    memory.set(random.bytes(aad), at("windowAt"));
    call("absorb", aad);
    memory.set(random.bytes(text + 16), at("windowAt"));
    if (seal) {
      call("crypt", text, 1);
      call("appendTag", text, aad, text);
    } else {
      assertEquals(call("checkTag", text, aad, text), 0);
      call("crypt", text, 1);
    }
    call("wipe", text);
  }
}

/** One hash of more than one piece, and one HMAC. */
function runSha256({ memory, call, at }: Instance, random: Random, { text, aad }: Lengths): void {
  const whole = aad & ~63;
  call("begin");
  memory.set(random.bytes(whole), at("windowAt"));
  call("absorb", whole);
  memory.set(random.bytes(text), at("windowAt"));
  call("finish", text, whole + text);
  call("wipe", Math.max(whole, text));
  memory.set(random.bytes(32), at("keyAt"));
  call("setKey");
  call("beginMac");
  memory.set(random.bytes(text), at("windowAt"));
  call("finishMac", text, text);
  call("wipe", text);
}

interface Instrumented {
  readonly module: WebAssembly.Module;
  readonly text: string;
}

async function instrument(built: string): Promise<Instrumented> {
  const printed = await runNpmScript("instrument.ts", { input: Uint8Array.fromBase64(built) });
  const { text, module } = JSON.parse(new TextDecoder().decode(printed));
  return { module: new WebAssembly.Module(Uint8Array.fromBase64(module)), text };
}

interface Trace {
  readonly events: number;
  readonly digest: number;
}

type Call = (...args: number[]) => number;

/** Runs a subject with fresh secrets of given lengths, and digests all that was reported. */
function trace(
  module: WebAssembly.Module,
  { run }: Subject,
  random: Random,
  lengths: Lengths,
): Trace {
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
  env["load_ptr"] = (
    id,
    bytes,
    offset,
    address,
  ) => (note(2, id ?? 0, bytes ?? 0, offset ?? 0, address ?? 0), address);
  env["store_ptr"] = (
    id,
    bytes,
    offset,
    address,
  ) => (note(3, id ?? 0, bytes ?? 0, offset ?? 0, address ?? 0), address);
  const { exports } = new WebAssembly.Instance(module, { env });
  run(
    {
      memory: new Uint8Array((exports["memory"] as WebAssembly.Memory).buffer),
      call: (name, ...args) => (exports[name] as Call)(...args),
      at: (name) => (exports[name] as WebAssembly.Global).value,
    },
    random,
    lengths,
  );
  return { events, digest };
}

for (const [name, subject] of Object.entries(subjects)) {
  const instrumented = instrument(subject.module);

  Deno.test(`${name}: no instruction has a duration that is known to depend on its operands`, async () => {
    const { text } = await instrumented;
    assertEquals(forbidden.exec(text)?.[0], undefined);
    assertGreater(text.match(subject.expected)?.length ?? 0, 40);
  });

  Deno.test(`${name}: addresses that are not reported are constants, counters and lengths`, async () => {
    const { text } = await instrumented;
    const [all, atPublicAddress] = [unreported, unreportedAtPublicAddress].map((kind) =>
      text.match(kind)?.length ?? 0
    );
    assertGreater(all ?? 0, 2);
    assertEquals(atPublicAddress, all);
  });

  Deno.test(`${name}: addresses and paths are the same for all secrets, nonces and texts of one length`, async () => {
    const { module } = await instrumented;
    const random = createRandom(seedFromEnvironment());
    for (
      const lengths of [{ text: 0, aad: 0 }, { text: 61, aad: 5 }, { text: 64, aad: 16 }, {
        text: 1000,
        aad: 300,
      }]
    ) {
      const expected = trace(module, subject, random, lengths);
      assertGreater(expected.events, subject.leastEvents);
      for (let i = 0; i < 20; i++) {
        const where = `seed ${random.seed}, ${JSON.stringify(lengths)}`;
        assertEquals(trace(module, subject, random, lengths), expected, where);
      }
    }
  });

  Deno.test(`${name}: the trace of another length differs, so the comparison can fail`, async () => {
    const { module } = await instrumented;
    const random = createRandom(seedFromEnvironment());
    const [short, long] = [{ text: 60, aad: 5 }, { text: 300, aad: 5 }].map((each) =>
      trace(module, subject, random, each)
    );
    assert(short && long && short.digest !== long.digest && short.events < long.events);
  });
}
