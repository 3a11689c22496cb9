/**
 * X-Wing gives the same bytes everywhere, with the runtime's ML-KEM and with noble's, and odd keys
 * and encapsulations have one verdict.
 */
import { isUsableSealKey } from "../../proto/mod.ts";
import {
  createXWing,
  mlKemBytes,
  type OpeningMlKem,
  xWingBytes,
} from "../../sdk/mls/testing/world.ts";
import { createRandom } from "../support/random.ts";
import { check, Digest, type RuntimeTest, sameBytes } from "../support/runtime/suite.ts";

const seed = 54;
const keys = 30;

/** `native`: of the runtime, if it has one. */
export function createTests(native: OpeningMlKem): readonly RuntimeTest[] {
  return [
    {
      name: "keys, encapsulations and secrets are the same bytes, whoever computes them",
      run: async () => {
        const [portable, runtimes] = [createXWing(), createXWing(native)];
        const isThere = await isOpening(native);
        check(
          isThere === (await runtimes.mlKem() === "runtime"),
          "the runtime's is used where it is there",
        );
        const random = createRandom(seed);
        const digest = new Digest();
        for (let i = 0; i < keys; i++) {
          const privateKey = random.bytes(xWingBytes.seed);
          const publicKey = await portable.publicKeyOf(privateKey);
          sameBytes(await runtimes.publicKeyOf(privateKey), publicKey, `key ${i}`);
          const { kemOutput, sharedSecret } = runtimes.encapsulate(
            publicKey,
            random.bytes(xWingBytes.randomness),
          );
          const changed = kemOutput.slice();
          const at = random.below(kemOutput.length);
          changed[at] = (changed[at] ?? 0) ^
            (1 << random.below(at === kemOutput.length - 1 ? 7 : 8));
          const other = await portable.decapsulate(changed, privateKey);
          for (const xWing of [portable, runtimes]) {
            sameBytes(await xWing.decapsulate(kemOutput, privateKey), sharedSecret, `secret ${i}`);
            sameBytes(await xWing.decapsulate(changed, privateKey), other, `changed ${i}`);
          }
          for (const bytes of [publicKey, kemOutput, sharedSecret, other]) digest.add(bytes);
        }
        return digest.toString();
      },
    },
    {
      name: "random keys are judged by their encoding",
      run: () => {
        const random = createRandom(seed);
        const verdicts = Array.from({ length: 300 }, (_, i) => {
          const key = random.bytes(xWingBytes.publicKey);
          // Every second one has only numbers that are low enough.
          const most = i % 2 === 0 ? 255 : 0xcf;
          for (let at = 2; at < 1152; at += 3) key[at] = (key[at] ?? 0) & most;
          for (let at = 1; at < 1152; at += 3) key[at] = (key[at] ?? 0) & 0xf0 | i % 13;
          return isUsableSealKey(key) ? "1" : "0";
        }).join("");
        check(verdicts.includes("1") && verdicts.includes("0"), "some are usable and some are not");
        return verdicts;
      },
    },
  ];
}

async function isOpening(mlKem: OpeningMlKem): Promise<boolean> {
  try {
    await mlKem.publicKeyOf(new Uint8Array(mlKemBytes.seed));
    return true;
  } catch {
    return false;
  }
}
