/**
 * A member that runs OpenMLS, compiled to WebAssembly: the group logic and the cryptography are all
 * its own. Only its keys are ours: they are written into its store, because it makes no KeyPackage
 * with extensions of ours.
 */
import type { MlsIdentity } from "../identity.ts";
import type { OwnKeyPackage } from "../key_package.ts";
import { credentialOf } from "../leaf.ts";
import { encodeKeyPackage, extensionTypeToNumber } from "../ts_mls.ts";

interface OpenMlsMember {
  create_message(provider: OpenMlsStore, sender: object, message: Uint8Array): Uint8Array;
  process_message(provider: OpenMlsStore, message: Uint8Array): Uint8Array;
  propose_and_commit_add(
    provider: OpenMlsStore,
    sender: object,
    member: object,
  ): { readonly welcome: Uint8Array };
  merge_pending_commit(provider: OpenMlsStore): void;
  export_ratchet_tree(): { to_bytes(): Uint8Array };
}

type OpenMlsStore = object;

/** Of the package `mls-ts`, as far as tests use it. */
export interface OpenMls {
  initSync(module: { readonly module: BufferSource }): void;
  readonly Provider: { new (): OpenMlsStore; from_bytes(bytes: Uint8Array): OpenMlsStore };
  readonly Identity: {
    new (provider: OpenMlsStore, name: string): object;
    from_bytes(name: string, bytes: Uint8Array): object;
  };
  readonly KeyPackage: { from_bytes(bytes: Uint8Array): { to_bytes(): Uint8Array } };
  readonly RatchetTree: { from_bytes(bytes: Uint8Array): object };
  readonly Group: {
    create_new(provider: OpenMlsStore, founder: object, groupId: string): OpenMlsMember;
    join(provider: OpenMlsStore, welcome: Uint8Array, tree: object): OpenMlsMember;
  };
}

/** From a project that has `mls-ts`. */
export async function loadOpenMls(folder: string): Promise<OpenMls> {
  const files = `${folder}/node_modules/mls-ts/wasm-web/openmls_wasm`;
  const openMls: OpenMls = await import(`file://${files}.js`);
  openMls.initSync({ module: await Deno.readFile(`${files}_bg.wasm`) });
  return openMls;
}

/** Throws where OpenMLS refuses the KeyPackage. Returns the bytes that it has read. */
export function readByOpenMls(openMls: OpenMls, { keyPackage }: OwnKeyPackage): Uint8Array {
  return openMls.KeyPackage.from_bytes(encodeKeyPackage(keyPackage)).to_bytes();
}

/** OpenMLS creates a group and adds this KeyPackage. Returns its Welcome, and the tree beside it. */
export function welcomeByOpenMls(
  openMls: OpenMls,
  { keyPackage }: OwnKeyPackage,
): { readonly welcome: Uint8Array; readonly ratchetTree: Uint8Array } {
  const provider = new openMls.Provider();
  const founder = new openMls.Identity(provider, "founder");
  const group = openMls.Group.create_new(provider, founder, "group");
  const newcomer = openMls.KeyPackage.from_bytes(encodeKeyPackage(keyPackage));
  const { welcome } = group.propose_and_commit_add(provider, founder, newcomer);
  group.merge_pending_commit(provider);
  return { welcome, ratchetTree: group.export_ratchet_tree().to_bytes() };
}

export class OpenMlsPeer {
  readonly #provider: OpenMlsStore;
  readonly #identity: object;
  readonly #group: OpenMlsMember;

  /** OpenMLS joins by a Welcome without the layer. Throws where it refuses to. */
  constructor(
    openMls: OpenMls,
    { own, identity, welcome, ratchetTree }: {
      readonly own: OwnKeyPackage;
      readonly identity: MlsIdentity;
      readonly welcome: Uint8Array;
      readonly ratchetTree: Uint8Array;
    },
  ) {
    this.#provider = openMls.Provider.from_bytes(storeWith(own));
    this.#identity = openMls.Identity.from_bytes("peer", keyPairOf(identity));
    const tree = openMls.RatchetTree.from_bytes(ratchetTree);
    this.#group = openMls.Group.join(this.#provider, welcome, tree);
  }

  say(text: Uint8Array): Uint8Array {
    return this.#group.create_message(this.#provider, this.#identity, text);
  }

  /** Returns the plaintext of a message; nothing for a commit, which it follows. */
  receive(bytes: Uint8Array): Uint8Array {
    return this.#group.process_message(this.#provider, bytes);
  }
}

/** As OpenMLS serializes one: private and public key, and the number of Ed25519. */
function keyPairOf({ signingSeed, signatureKey }: MlsIdentity): Uint8Array {
  return Uint8Array.of(32, ...signingSeed, 32, ...signatureKey, 0x08, 0x07);
}

/** Number of the format in which OpenMLS stores, behind each key. */
const storedVersion = [0, 1];

/** A store of OpenMLS with one KeyPackage and its private keys, as it serializes them. */
function storeWith(own: OwnKeyPackage): Uint8Array {
  const { keyPackage, reference, initPrivateKey, leafPrivateKey } = own;
  const { leafNode } = keyPackage;
  const bytes = (of: Uint8Array): { vec: number[] } => ({ vec: [...of] });
  const typeOf = (type: Parameters<typeof extensionTypeToNumber>[0]): unknown => {
    const number = extensionTypeToNumber(type);
    return number === 10 ? "LastResort" : { Unknown: number };
  };
  const extensionsOf = (extensions: typeof keyPackage.extensions): unknown => ({
    unique: extensions.map(({ extensionType, extensionData }) => ({
      Unknown: [extensionTypeToNumber(extensionType), [...extensionData]],
    })),
  });
  const { notBefore, notAfter } = leafNode.lifetime;
  const leaf = {
    encryption_key: { key: bytes(leafNode.hpkePublicKey) },
    signature_key: { value: bytes(leafNode.signaturePublicKey) },
    credential: {
      credential_type: "Basic",
      serialized_credential_content: bytes(credentialOf(leafNode).identity),
    },
    capabilities: {
      versions: ["Mls10"],
      ciphersuites: [3],
      extensions: leafNode.capabilities.extensions.map(typeOf),
      proposals: [],
      credentials: ["Basic"],
    },
    leaf_node_source: {
      KeyPackage: { not_before: Number(notBefore), not_after: Number(notAfter) },
    },
    extensions: extensionsOf(leafNode.extensions),
  };
  const bundle = {
    key_package: {
      payload: {
        protocol_version: "Mls10",
        ciphersuite: "MLS_128_DHKEMX25519_CHACHA20POLY1305_SHA256_Ed25519",
        init_key: { key: bytes(keyPackage.initKey) },
        leaf_node: { payload: leaf, signature: { value: bytes(leafNode.signature) } },
        extensions: extensionsOf(keyPackage.extensions),
      },
      signature: { value: bytes(keyPackage.signature) },
    },
    private_init_key: bytes(initPrivateKey),
    private_encryption_key: { key: bytes(leafPrivateKey) },
  };
  const text = new TextEncoder();
  const name = text.encode(`KeyPackage${JSON.stringify({ value: bytes(reference) })}`);
  const [key, value] = [[...name, ...storedVersion], text.encode(JSON.stringify(bundle))];
  const lengths = new DataView(new ArrayBuffer(24));
  [1, key.length, value.length].forEach((each, i) => lengths.setBigUint64(8 * i, BigInt(each)));
  return Uint8Array.from([...new Uint8Array(lengths.buffer), ...key, ...value]);
}
