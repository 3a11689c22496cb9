import { ed25519, x25519 } from "@noble/curves/ed25519.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { isUsablePublicKey } from "../../../proto/mod.ts";
import { readVectors, testWhen, vectors } from "../../../tests/support/mod.ts";
import { createNodeEd25519 } from "../../platform/node_ed25519.ts";
import { nodeSha256 } from "../../platform/node_sha256.ts";
import { createNodeX25519 } from "../../platform/node_key_agreement.ts";
import {
  decryptWithLabel,
  deriveSecret,
  deriveTreeSecret,
  encryptWithLabel,
  expandWithLabel,
  refhash,
  signWithLabel,
  verifyWithLabel,
} from "../testing/ts_mls.ts";
import { deriveKeyPair, open, receiveExport, seal, sendExport } from "./hpke.ts";
import { chooseKeyAgreement, portableKeyAgreement } from "./key_agreement.ts";
import type { LongHash } from "./long_hash.ts";
import { createSignatures, type Signatures } from "./signatures.ts";
import { portableSignatures } from "../testing/portable_signatures.ts";
import { createWebCryptoEd25519 } from "./web_crypto_ed25519.ts";
import { aeadOf, expand, extract, type SuiteId } from "./suite.ts";
import { sha256 } from "../../../wasm/mod.ts";
import { createTsMlsSuite } from "../testing/ts_mls_suite.ts";

const randomBytes = (length: number): Uint8Array<ArrayBuffer> =>
  crypto.getRandomValues(new Uint8Array(length));
const suiteIds: readonly SuiteId[] = [1, 3];

interface WycheproofCase {
  readonly tcId: number;
  readonly result: "valid" | "invalid" | "acceptable";
  readonly flags: readonly string[];
  readonly [field: string]: unknown;
}

interface WycheproofGroup {
  readonly tests: readonly WycheproofCase[];
  readonly [field: string]: unknown;
}

function wycheproof(file: string): readonly WycheproofGroup[] {
  return (readVectors(`wycheproof/${file}`) as { testGroups: WycheproofGroup[] }).testGroups;
}

function bytesOf(value: unknown): Uint8Array {
  return hexToBytes(String(value));
}

for (
  const [id, file, keySize] of [[3, "chacha20_poly1305_test.json", 256], [
    1,
    "aes_gcm_test.json",
    128,
  ]] as const
) {
  testWhen(
    vectors(`wycheproof/${file}`),
    `suite ${id}: the AEAD agrees with wycheproof/${file}`,
    () => {
      const groups = wycheproof(file).filter((group) =>
        group["keySize"] === keySize && group["ivSize"] === 96
      );
      let checked = 0;
      for (const test of groups.flatMap(({ tests }) => tests)) {
        const [key, nonce, aad] = [bytesOf(test["key"]), bytesOf(test["iv"]), bytesOf(test["aad"])];
        const ciphertext = concatBytes(bytesOf(test["ct"]), bytesOf(test["tag"]));
        checked++;
        if (test.result === "valid") {
          const plaintext = bytesOf(test["msg"]);
          assertEquals(
            bytesToHex(aeadOf[id].open(key, nonce, aad, ciphertext)),
            bytesToHex(plaintext),
            `tc ${test.tcId}`,
          );
          assertEquals(
            bytesToHex(aeadOf[id].seal(key, nonce, aad, plaintext)),
            bytesToHex(ciphertext),
            `tc ${test.tcId}`,
          );
        } else {
          assertThrows(() => aeadOf[id].open(key, nonce, aad, ciphertext), Error);
        }
      }
      assert(checked > 40, `${checked} cases`);
    },
  );
}

testWhen(
  vectors("wycheproof/hkdf_sha256_test.json"),
  "HKDF agrees with wycheproof/hkdf_sha256_test.json",
  () => {
    for (const test of wycheproof("hkdf_sha256_test.json").flatMap(({ tests }) => tests)) {
      const act = (): Uint8Array =>
        expand(
          extract(bytesOf(test["salt"]), bytesOf(test["ikm"])),
          bytesOf(test["info"]),
          Number(test["size"]),
        );
      if (test.result === "valid") assertEquals(bytesToHex(act()), test["okm"], `tc ${test.tcId}`);
      else assertThrows(act, RangeError);
    }
  },
);

const agreements = { noble: portableKeyAgreement, "node:crypto": createNodeX25519() };

for (const [name, agreement] of Object.entries(agreements)) {
  testWhen(
    vectors("wycheproof/x25519_test.json"),
    `X25519 of ${name} agrees with wycheproof/x25519_test.json and refuses a shared zero`,
    () => {
      for (const test of wycheproof("x25519_test.json").flatMap(({ tests }) => tests)) {
        const [publicKey, privateKey] = [bytesOf(test["public"]), bytesOf(test["private"])];
        if (/^(00)+$/.test(String(test["shared"]))) {
          assertThrows(() => agreement.sharedSecret(privateKey, publicKey), Error);
          const kemOutput = publicKey;
          const message = {
            privateKey,
            kemOutput,
            info: publicKey,
            aad: publicKey,
            ciphertext: new Uint8Array(32),
          };
          assertThrows(() => open(aeadOf[3], message, agreement), Error);
        } else {
          assertEquals(
            bytesToHex(agreement.sharedSecret(privateKey, publicKey)),
            test["shared"],
            `tc ${test.tcId}`,
          );
        }
      }
    },
  );
}

Deno.test("X25519 of node:crypto is noble's, byte by byte, and is used only if it is", () => {
  const native = createNodeX25519();
  assert(chooseKeyAgreement(native) === native);
  for (let i = 0; i < 100; i++) {
    const [ours, theirs] = [randomBytes(32), randomBytes(32)];
    const publicKey = native.publicKeyOf(theirs);
    assertEquals(publicKey, portableKeyAgreement.publicKeyOf(theirs));
    assertEquals(
      native.sharedSecret(ours, publicKey),
      portableKeyAgreement.sharedSecret(ours, publicKey),
    );
  }
  const missing = (): never => {
    throw new Error("not supported");
  };
  for (
    const wrong of [
      undefined,
      { ...native, publicKeyOf: missing },
      { ...native, publicKeyOf: () => new Uint8Array(32) },
      { ...native, sharedSecret: () => new Uint8Array(32).fill(1) },
      {
        ...native,
        sharedSecret: (key: Uint8Array, other: Uint8Array) =>
          other.some(Boolean) ? native.sharedSecret(key, other) : other,
      },
    ]
  ) assert(chooseKeyAgreement(wrong) === portableKeyAgreement);
});

testWhen(
  vectors("wycheproof/ed25519_test.json"),
  "handshake signatures are judged as in wycheproof/ed25519_test.json",
  () => {
    for (const group of wycheproof("ed25519_test.json")) {
      const publicKey = bytesOf((group["publicKey"] as { pk: string }).pk);
      for (const test of group.tests) {
        const verdict = portableSignatures.verifyHandshake(
          publicKey,
          bytesOf(test["msg"]),
          bytesOf(test["sig"]),
        );
        assertEquals(verdict, test.result === "valid", `tc ${test.tcId}`);
      }
    }
  },
);

/** R with a component of order 8: valid by the cofactored equation, invalid by the plain one. */
function signatureWithSmallOrderComponent(seed: Uint8Array, message: Uint8Array): Uint8Array {
  const { scalar, pointBytes } = ed25519.utils.getExtendedPublicKey(seed);
  const torsion = ed25519.Point.fromBytes(
    hexToBytes("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"),
  );
  const nonce = 123456789n;
  const commitment = ed25519.Point.BASE.multiply(nonce).add(torsion).toBytes();
  const order = ed25519.Point.Fn.ORDER;
  const challenge = littleEndian(sha512(concatBytes(commitment, pointBytes, message))) % order;
  const response = (nonce + challenge * scalar) % order;
  const encoded = Uint8Array.from(
    { length: 32 },
    (_, i) => Number((response >> BigInt(8 * i)) & 0xffn),
  );
  return concatBytes(commitment, encoded);
}

function littleEndian(bytes: Uint8Array): bigint {
  return bytes.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
}

Deno.test("a signature with a small-order component gets one verdict in handshakes, whatever the runtime says", async () => {
  const seed = new Uint8Array(32).fill(7);
  const message = utf8ToBytes("commit");
  const signature = signatureWithSmallOrderComponent(seed, message);
  const publicKey = ed25519.getPublicKey(seed);
  const accelerated = await createSignatures({ ed25519: createWebCryptoEd25519(crypto.subtle) });
  assert(accelerated.signApplication !== portableSignatures.signApplication);
  // The runtime disagrees with noble here. This is why it never judges a handshake.
  assertEquals(await accelerated.verifyApplication(publicKey, message, signature), false);
  assertEquals(portableSignatures.verifyHandshake(publicKey, message, signature), true);
  assertEquals(accelerated.verifyHandshake(publicKey, message, signature), true);
});

const natives = {
  WebCrypto: createWebCryptoEd25519(crypto.subtle),
  "node:crypto": createNodeEd25519(),
};

for (const [name, native] of Object.entries(natives)) {
  Deno.test(`signatures of ${name} are bit-identical to noble's, and both verify`, async () => {
    const accelerated = await createSignatures({ ed25519: native });
    assert(accelerated.signApplication !== portableSignatures.signApplication);
    assertEquals(
      accelerated.sign === portableSignatures.sign,
      native.waits,
      "handshakes never wait",
    );
    for (let i = 0; i < 50; i++) {
      const [seed, message] = [randomBytes(32), randomBytes(i * 7)];
      const signature = await accelerated.signApplication(seed, message);
      assertEquals(signature, accelerated.sign(seed, message));
      assertEquals(signature, portableSignatures.sign(seed, message));
      const publicKey = ed25519.getPublicKey(seed);
      assert(await accelerated.verifyApplication(publicKey, message, signature));
      assert(portableSignatures.verifyHandshake(publicKey, message, signature));
      signature[i] = (signature[i] ?? 0) ^ 1;
      assert(!await accelerated.verifyApplication(publicKey, message, signature));
      assert(!await portableSignatures.verifyApplication(publicKey, message, signature));
    }
    assert(
      !await accelerated.verifyApplication(
        new Uint8Array(32).fill(255),
        new Uint8Array(1),
        new Uint8Array(64),
      ),
    );
  });
}

Deno.test("a runtime without Ed25519, or with a wrong one, is not used", async () => {
  const refuse = (): Promise<never> => Promise.reject(new DOMException("no", "NotSupportedError"));
  const isPortable = (signatures: Signatures): boolean =>
    signatures.sign === portableSignatures.sign &&
    signatures.signApplication === portableSignatures.signApplication;
  assert(isPortable(await createSignatures()));
  const missing = createWebCryptoEd25519({ importKey: refuse, sign: refuse, verify: refuse });
  assert(isPortable(await createSignatures({ ed25519: missing })));
  const native = createNodeEd25519();
  assert(
    isPortable(await createSignatures({ ed25519: { ...native, sign: () => new Uint8Array(64) } })),
  );
  assert(isPortable(await createSignatures({ ed25519: { ...native, verify: () => false } })));
});

Deno.test("SHA-256 of node:crypto is bit-identical to that of wasm/, and one that is not is not used", async () => {
  const choose = async (native?: LongHash): Promise<LongHash> =>
    (await createSignatures({ sha256: native })).longHash;
  assertEquals(await choose(nodeSha256), nodeSha256);
  for (const length of [0, 1, 55, 56, 64, 4096, 9999]) {
    const bytes = randomBytes(length);
    assertEquals(nodeSha256(bytes), sha256(bytes));
    assertEquals(nodeSha256(bytes.subarray(length >> 1)), sha256(bytes.subarray(length >> 1)));
  }
  const refuse = (): never => {
    throw new Error("no such hash");
  };
  for (const other of [undefined, () => new Uint8Array(32), refuse]) {
    assertEquals(await choose(other), sha256);
  }
});

Deno.test("isUsablePublicKey() refuses the keys that X25519 refuses, and no honest one", () => {
  const small = [
    "00".repeat(32),
    `01${"00".repeat(31)}`,
    `ec${"ff".repeat(30)}7f`,
    `ed${"ff".repeat(30)}7f`,
  ];
  small.push(
    `ee${"ff".repeat(30)}7f`,
    "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
  );
  small.push("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157");
  for (const key of small.map(hexToBytes)) {
    const signed = key.slice();
    signed[31] = (signed[31] ?? 0) | 0x80;
    for (const each of [key, signed]) {
      assert(!isUsablePublicKey(each));
      assertThrows(() => x25519.getSharedSecret(new Uint8Array(32).fill(9), each), Error);
    }
  }
  for (let i = 0; i < 20; i++) assert(isUsablePublicKey(x25519.getPublicKey(randomBytes(32))));
  assert(!isUsablePublicKey(new Uint8Array(31).fill(5)));
});

for (const id of suiteIds) {
  Deno.test(`suite ${id}: HPKE opens what it sealed, and nothing that was changed`, () => {
    const aead = aeadOf[id];
    const { publicKey, privateKey } = deriveKeyPair(randomBytes(32));
    const [info, aad, plaintext] = [randomBytes(20), randomBytes(9), randomBytes(100)];
    const sealed = seal(aead, { publicKey, info, aad, plaintext, randomness: randomBytes(32) });
    const message = { privateKey, info, aad, ...sealed };
    assertEquals(open(aead, message), plaintext);
    assertThrows(() => open(aead, { ...message, info: randomBytes(20) }), Error);
    assertThrows(() => open(aead, { ...message, aad: randomBytes(9) }), Error);
    assertThrows(
      () => open(aead, { ...message, kemOutput: x25519.getPublicKey(randomBytes(32)) }),
      Error,
    );
    assertThrows(() => open(aead, { ...message, privateKey: randomBytes(32) }), Error);
    const input = { info, exporterContext: aad, length: 32 };
    const { kemOutput, secret } = sendExport(
      aead,
      { publicKey, randomness: randomBytes(32) },
      input,
    );
    assertEquals(receiveExport(aead, { privateKey, kemOutput }, input), secret);
  });
}

type Fields = Readonly<Record<string, string & number>>;
type CryptoBasics = { readonly cipher_suite: number } & Readonly<Record<string, Fields>>;

testWhen(
  vectors("mls/crypto-basics.json"),
  "mls/crypto-basics.json holds for suites 1 and 3",
  async () => {
    for (const vector of readVectors("mls/crypto-basics.json") as CryptoBasics[]) {
      const id = suiteIds.find((candidate) => candidate === vector.cipher_suite);
      if (id === undefined) continue;
      const suite = createTsMlsSuite(id, {
        randomBytes,
        signatures: await createSignatures({ ed25519: createWebCryptoEd25519(crypto.subtle) }),
      });
      await checkBasics(suite, (name) => vector[name] ?? {});
    }
  },
);

async function checkBasics(
  suite: ReturnType<typeof createTsMlsSuite>,
  of: (name: string) => Partial<Fields>,
): Promise<void> {
  const hex = (name: string, field: string): Uint8Array => hexToBytes(String(of(name)[field]));
  const label = (name: string): string => String(of(name)["label"]);
  const { kdf, hash, hpke, signature } = suite;

  assertEquals(
    await refhash(label("ref_hash"), hex("ref_hash", "value"), hash),
    hex("ref_hash", "out"),
  );
  assertEquals(
    await expandWithLabel(
      hex("expand_with_label", "secret"),
      label("expand_with_label"),
      hex("expand_with_label", "context"),
      Number(of("expand_with_label")["length"]),
      kdf,
    ),
    hex("expand_with_label", "out"),
  );
  assertEquals(
    await deriveSecret(hex("derive_secret", "secret"), label("derive_secret"), kdf),
    hex("derive_secret", "out"),
  );
  const tree = of("derive_tree_secret");
  assertEquals(
    await deriveTreeSecret(
      hex("derive_tree_secret", "secret"),
      label("derive_tree_secret"),
      Number(tree["generation"]),
      Number(tree["length"]),
      kdf,
    ),
    hex("derive_tree_secret", "out"),
  );

  const sign = (field: string): Uint8Array => hex("sign_with_label", field);
  assert(
    await verifyWithLabel(
      sign("pub"),
      label("sign_with_label"),
      sign("content"),
      sign("signature"),
      signature,
    ),
  );
  assertEquals(
    await signWithLabel(sign("priv"), label("sign_with_label"), sign("content"), signature),
    sign("signature"),
  );

  const sealed = (field: string): Uint8Array => hex("encrypt_with_label", field);
  const name = label("encrypt_with_label");
  const privateKey = await hpke.importPrivateKey(sealed("priv"));
  const publicKey = await hpke.importPublicKey(sealed("pub"));
  assertEquals(
    await decryptWithLabel(
      privateKey,
      name,
      sealed("context"),
      sealed("kem_output"),
      sealed("ciphertext"),
      hpke,
    ),
    sealed("plaintext"),
  );
  const again = await encryptWithLabel(
    publicKey,
    name,
    sealed("context"),
    sealed("plaintext"),
    hpke,
  );
  assertEquals(
    await decryptWithLabel(privateKey, name, sealed("context"), again.enc, again.ct, hpke),
    sealed("plaintext"),
  );
}
