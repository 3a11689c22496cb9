/**
 * AES-256-GCM, MB/s of `seal` and `open`, beside the peers an application could use, in one run:
 * `deno run -A bench/aes.ts`, and in Node `deno run -A bench/in_node.ts bench/aes.ts`. Every
 * contender gets the same message and a key it has seen before; noble expands its key in every call
 * because its interface asks for it.
 */
import { createCipheriv, createDecipheriv } from "node:crypto";
import process from "node:process";
import { gcm } from "@noble/ciphers/aes.js";
import { Aes256Gcm } from "../wasm/mod.ts";
import { reportRatio } from "./ratio.ts";

const sizes = [64, 1024, 16 * 1024, 1024 * 1024];
const roundMs = 60;
const rounds = 5;

const key = crypto.getRandomValues(new Uint8Array(32));
const nonce = crypto.getRandomValues(new Uint8Array(12));

interface Contender {
  readonly name: string;
  readonly seal: (text: Uint8Array<ArrayBuffer>) => Uint8Array | Promise<unknown>;
  readonly open: (sealed: Uint8Array<ArrayBuffer>) => Uint8Array | Promise<unknown>;
}

async function createContenders(): Promise<Contender[]> {
  const ours = new Aes256Gcm(key);
  const webKey = await crypto.subtle.importKey("raw", key, "AES-GCM", false, [
    "encrypt",
    "decrypt",
  ]);
  const web = { name: "AES-GCM", iv: nonce };
  return [
    {
      name: "ours",
      seal: (plaintext) => ours.seal({ nonce, plaintext }),
      open: (c) => ours.open({ nonce, ciphertext: c }),
    },
    {
      name: "noble",
      seal: (text) => gcm(key, nonce).encrypt(text),
      open: (sealed) => gcm(key, nonce).decrypt(sealed),
    },
    {
      name: "webcrypto",
      seal: (text) => crypto.subtle.encrypt(web, webKey, text),
      open: (sealed) => crypto.subtle.decrypt(web, webKey, sealed),
    },
    { name: "node:crypto", seal: nodeSeal, open: nodeOpen },
  ];
}

function nodeSeal(text: Uint8Array): Uint8Array {
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  const sealed = new Uint8Array(text.length + 16);
  sealed.set(cipher.update(text));
  cipher.final();
  sealed.set(cipher.getAuthTag(), text.length);
  return sealed;
}

function nodeOpen(sealed: Uint8Array): Uint8Array {
  const decipher = createDecipheriv("aes-256-gcm", key, nonce);
  decipher.setAuthTag(sealed.subarray(sealed.length - 16));
  const text = decipher.update(sealed.subarray(0, sealed.length - 16));
  decipher.final();
  return text;
}

/** Calls for `roundMs`; several calls between two looks at the clock. Returns MB/s. */
async function measure(act: () => unknown, bytes: number): Promise<number> {
  const burst = Math.max(1, Math.round(16 * 1024 / bytes));
  const started = performance.now();
  let calls = 0;
  do {
    for (let i = 0; i < burst; i++) {
      const result = act();
      if (result instanceof Promise) await result;
    }
    calls += burst;
  } while (performance.now() - started < roundMs);
  return calls * bytes / (performance.now() - started) / 1000;
}

/**
 * The best of several rounds, the contenders taking turns, so that another process disturbs all
 * alike.
 */
async function compare(
  contenders: Contender[],
  operation: "seal" | "open",
  bytes: number,
): Promise<number[]> {
  const text = new Uint8Array(bytes).map((_, i) => i);
  const input = operation === "seal" ? text : Uint8Array.from(nodeSeal(text));
  const best = contenders.map(() => 0);
  for (let round = 0; round < rounds; round++) {
    for (const [i, contender] of contenders.entries()) {
      best[i] = Math.max(best[i] ?? 0, await measure(() => contender[operation](input), bytes));
    }
  }
  return best;
}

export async function run(): Promise<void> {
  const contenders = await createContenders();
  const runtime = "Deno" in globalThis
    ? `Deno ${process.versions["deno"]}`
    : `Node ${process.versions.node}`;
  console.log(`\n${runtime}, ${process.arch}, MB/s (higher is better); ratio = ours / other`);
  console.log(
    `${"".padEnd(14)}${contenders.map(({ name }) => name.padStart(12)).join("")}   ratios`,
  );
  for (const operation of ["seal", "open"] as const) {
    for (const bytes of sizes) {
      const speeds = await compare(contenders, operation, bytes);
      const ratios = contenders.slice(1).map(({ name }, i) =>
        `${name} ${((speeds[0] ?? 0) / (speeds[i + 1] ?? 1)).toFixed(1)}`
      );
      const [ours = NaN, ...others] = speeds;
      for (const [i, theirs] of others.entries()) {
        const what = `${operation} ${bytes} bytes`;
        const peer = contenders[i + 1]?.name ?? "";
        reportRatio({ bench: "aes", what, unit: "MB/s", ours, peer, theirs, ratio: ours / theirs });
      }
      const cells = speeds.map((speed) => speed.toFixed(1).padStart(12)).join("");
      console.log(`${operation} ${String(bytes).padEnd(9)}${cells}   ${ratios.join(", ")}`);
    }
  }
}

await run();
