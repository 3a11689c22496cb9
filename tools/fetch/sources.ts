/**
 * Third-party files that tests use, with their public addresses: the only place that names these
 * hosts. An address is pinned to a revision and the content to its sum, so everybody tests against
 * the same bytes.
 */

export interface PinnedSource {
  /** Path below the folder of its kind, see `places.ts`. */
  readonly name: string;
  /** Tried in this order. */
  readonly addresses: readonly string[];
  /** SHA-256 in hexadecimal digits. */
  readonly sha256: string;
}

/** Files of one public repository at one revision, with their sums. */
interface Repository {
  readonly folder: string;
  readonly address: string;
  readonly sums: Readonly<Record<string, string>>;
}

const repositories: readonly Repository[] = [
  {
    folder: "wycheproof",
    address:
      "https://raw.githubusercontent.com/C2SP/wycheproof/dac1dd4729fd1f8dd9e1e9f3dce51d783da6c166/testvectors_v1",
    sums: {
      "aes_gcm_test.json": "985e5ecc172e181eaf49e89508b9470dcf478002eb7e8559c707eb42dc97dfe7",
      "chacha20_poly1305_test.json":
        "fe61d25f90e1bde4461d00eafe61049e5f29bd999f36b766df9cda90906ad53d",
      "ed25519_test.json": "752d2ea7d7c6cf4736381b6cbacb61f8182b126ab7cd9b058f00c50084975536",
      "hkdf_sha256_test.json": "bb2b462a38b251cb52a2aede706d6d4b62b26864f4e80c95497507ddb07c5f1e",
      "mlkem_768_encaps_test.json":
        "9d4381f94c40853bba430245b94968b7390d9175aacd9f1ae4e250a71c78b713",
      "mlkem_768_keygen_seed_test.json":
        "fde5abe284396f4cb3c4610b90d680f0b57782e94c3365c97aee59e24881ebe4",
      "mlkem_768_test.json": "c2bc0264a150c3a4399da72701d154672e9f708420cff8f01340ef0b1f17f4f7",
      "x25519_test.json": "35c3f5231cf25cc640b524d403461deee9e49441d5d915a3a25b2c8ff5adbe7d",
    },
  },
  {
    folder: "mls",
    address:
      "https://raw.githubusercontent.com/mlswg/mls-implementations/cfd450286d1bfd9cd2519b95c80f9771f94a5b1a/test-vectors",
    sums: {
      "crypto-basics.json": "17cfcf89af9f51d0f2aa7af77f6f9ec99376a039214b6d42a6f11646b83e8c29",
      "deserialization.json": "1e394706e79f77df71454e5970f2aa736d4ab8b6c7e3219dd5609992388a953e",
      "key-schedule.json": "05aa9a68bd2538ace72d8c53375984cc728ef62220ebf314df675708546d97a7",
      "message-protection.json": "f7c1ae62ce63c3003e526d539c99f2b1444f65ee0a487d3a5667d46867526c45",
      "messages.json": "b194abe1561995223482dbad51c180146920dc2f637e74d01e07a388308791fb",
      "passive-client-handling-commit.json":
        "b24949fdf857bf79d511f57504a8bdc7ce3247eb199684745e439c11b1a1da21",
      "passive-client-welcome.json":
        "92ebb04b67b1aca4290965ae363650921842ceebe275bd79a2733414078d849c",
      "psk_secret.json": "2b534969dba0b65a04b7d790496af5c0ccdb472b3fc4ca25c8c82df3e8523784",
      "secret-tree.json": "08f92e6272452e2c832e32d38e16cf0c4aa28967e47d3842c60bc354c6b67a94",
      "transcript-hashes.json": "58046b58fbd98519b4e60953a105f550e4b427e2b140ea67dedcb751260eecb8",
      "tree-math.json": "27f04891f56106593b74b674445f01b845e173953770c084deb2f8cf5592e2fc",
      "tree-operations.json": "9a25f8720714d1256ba2dad8d83a660ba0bae0d33ed15c682b9d74a5d67aad0a",
      "treekem.json": "d8bbdf78394797f21db7476fd286af6830ebcb18d2e3b2c839fecd4eb11056f8",
      "welcome.json": "06be9d5c99817ef2545e4b15b8e73fd9b604685a8e55b59ca168eda98e236502",
    },
  },
  {
    folder: "acvp",
    address:
      "https://raw.githubusercontent.com/usnistgov/ACVP-Server/15c0f3deeefbfa8cb6cd32a99e1ca3b738c66bf0/gen-val/json-files",
    sums: {
      "ML-KEM-encapDecap-FIPS203/internalProjection.json":
        "f1e22b7d399dde7bf61b838770c658a380e4b1cfc4bd395dbed9ec6c1d977d9d",
      "ML-KEM-keyGen-FIPS203/internalProjection.json":
        "d7a62a2c3476957f56dd8d24f9004ea6776ccfe995ffe71a65bb9506dc9c7b1b",
    },
  },
  {
    folder: "cbor",
    address:
      "https://raw.githubusercontent.com/cbor/test-vectors/aba89b653e484bc8573c22f3ff35641d79dfd8c1",
    sums: {
      "appendix_a.json": "80e78dc2f53cfdc9836094791d09e84c6818edf380f7cdd4be26a5c2dc4e9f3a",
    },
  },
];

export const vectorSources: readonly PinnedSource[] = repositories.flatMap((
  { folder, address, sums },
) =>
  Object.entries(sums).map(([file, sha256]) => ({
    name: `${folder}/${file}`,
    addresses: [`${address}/${file}`],
    sha256,
  }))
);

/**
 * Debian 12 and 13 have older versions, and run this one. The pool forgets versions; the snapshot
 * archive keeps all of them, and finds a file by its SHA-1.
 */
const natsVersion = "2.15.1-1";
const natsPackages = {
  x86_64: {
    architecture: "amd64",
    sha1: "b17ee438c3d363b8b4d3ffcfe0ea5d1299597b2a",
    sha256: "31ef4ceaa84e8248d449e508472e3770c17c3695cb5cb0ee96e03912724ea884",
  },
  aarch64: {
    architecture: "arm64",
    sha1: "7fdf233bf76a40fb54cca21bd68470dd9a3a4d95",
    sha256: "68923b614b6b5594bbd63ffdce7258c2155ec448fb4cb7efd099bf9273eca128",
  },
};

/** The program in the unpacked package. */
export const natsInPackage = "usr/sbin/nats-server";

/** Returns the package for a machine, or undefined when Debian has none for it. */
export function natsSource(
  { os, arch }: Pick<typeof Deno.build, "os" | "arch">,
): PinnedSource | undefined {
  if (os !== "linux") return undefined;
  const { architecture, sha1, sha256 } = natsPackages[arch];
  const name = `nats-server_${natsVersion}_${architecture}.deb`;
  const addresses = [
    `https://deb.debian.org/debian/pool/main/n/nats-server/${name}`,
    `https://snapshot.debian.org/file/${sha1}`,
  ];
  return { name, addresses, sha256 };
}
