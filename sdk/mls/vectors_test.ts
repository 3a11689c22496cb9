/** The MLS working group's test vectors, for suites 1 and 3, through our own layers. */
import { bytesToHex, concatBytes, hexToBytes } from "@noble/hashes/utils.js";
import { ed25519 } from "@noble/curves/ed25519.js";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { readVectors, testWhen, vectors } from "../../tests/support/mod.ts";
import { atOnce } from "../base/interruptible_work.ts";
import { decodeExactly, label, MlsFault, uint16, vector } from "./codec.ts";
import { deriveKeyPair } from "./crypto/hpke.ts";
import {
  deriveSecret,
  deriveTreeSecret,
  expandWithLabel,
  proposalRefLabel,
  refHash,
} from "./crypto/labelled.ts";
import { portableSignatures } from "./testing/portable_signatures.ts";
import { aeadOf, type SuiteId, suiteNames } from "./crypto/suite.ts";
import {
  contentToSign,
  decodeSealedMessage,
  encodeSealedMessage,
  type FramedContent,
  kindOf,
  openContent,
  openSenderData,
  readApplicationContent,
  readHandshakeContent,
  type SealedMessage,
} from "./framing.ts";
import {
  confirmationTag,
  confirmedTranscriptHash,
  exportSecret,
  interimTranscriptHash,
  joinerSecret,
  pskSecretOf,
  startEpoch,
  welcomeSecret,
} from "./key_schedule.ts";
import { createLeaf, RatchetTree } from "./ratchet_tree.ts";
import { SecretTree } from "./secret_tree.ts";
import {
  type AuthenticatedContent,
  decodeAuthenticatedContent,
  decodeRatchetTree,
  decodeUpdatePath,
  encodeAuthenticatedContent,
  encodeFramedContent,
  unprotectPublicMessage,
} from "./testing/ts_mls.ts";
import { leftOf, levelOf, parentOf, rightOf, rootOf, siblingOf } from "./tree_math.ts";
import { validateTree } from "./tree_validation.ts";
import { MlsReader } from "../../proto/mod.ts";
import type { Epoch, GroupDeps } from "./epoch.ts";
import { processCommit } from "./commit.ts";
import { createTsMlsSuite } from "./testing/ts_mls_suite.ts";
import { keyPackageReference, type OwnKeyPackage } from "./key_package.ts";
import type { ProposalFrom } from "./proposals.ts";
import {
  decodeCommit,
  decodeMlsMessage,
  decodeProposal,
  encodeGroupContext,
  encodeMlsMessage,
  type PreSharedKeyID,
} from "./ts_mls.ts";
import { applyPath, openPath } from "./update_path.ts";
import { decodeWelcomeMessage, joinGroup, openWelcome, signedGroupInfo } from "./welcome.ts";

const hex = hexToBytes;

/** Runs a test over every vector of a file that is for a suite we speak. */
function overSuites<V extends { readonly cipher_suite: number }>(
  file: string,
  guarantee: string,
  check: (vector: V, suite: SuiteId) => void | Promise<void>,
): void {
  testWhen(vectors(`mls/${file}.json`), `mls/${file}.json: ${guarantee}`, async () => {
    let checked = 0;
    for (const candidate of readVectors(`mls/${file}.json`) as V[]) {
      if (candidate.cipher_suite !== 1 && candidate.cipher_suite !== 3) continue;
      await check(candidate, candidate.cipher_suite);
      checked++;
    }
    assert(checked >= 2, `${checked} vectors for suites 1 and 3`);
  });
}

interface TreeMathVector {
  readonly n_leaves: number;
  readonly n_nodes: number;
  readonly root: number;
  readonly [relation: string]: unknown;
}

testWhen(vectors("mls/tree-math.json"), "mls/tree-math.json: relations of every node", () => {
  for (const v of readVectors("mls/tree-math.json") as TreeMathVector[]) {
    assertEquals(rootOf(v.n_nodes), v.root);
    const relations = { left: leftOf, right: rightOf, parent: parentOf, sibling: siblingOf };
    for (const [name, relation] of Object.entries(relations)) {
      (v[name] as (number | null)[]).forEach((expected, node) => {
        if (expected !== null) {
          assertEquals(relation(node), expected, `${name} of ${node} in ${v.n_leaves}`);
        }
      });
    }
    assertEquals(levelOf(v.root), Math.log2(v.n_leaves));
  }
});

testWhen(
  vectors("mls/deserialization.json"),
  "mls/deserialization.json: lengths of vectors",
  () => {
    for (
      const v of readVectors("mls/deserialization.json") as {
        vlbytes_header: string;
        length: number;
      }[]
    ) {
      const encoded = vector(new Uint8Array(v.length));
      assertEquals(bytesToHex(encoded.subarray(0, encoded.length - v.length)), v.vlbytes_header);
      assertEquals(new MlsReader(encoded, "vector").vector().length, v.length);
    }
  },
);

interface SecretTreeVector {
  readonly cipher_suite: number;
  readonly encryption_secret: string;
  readonly sender_data: {
    sender_data_secret: string;
    ciphertext: string;
    key: string;
    nonce: string;
  };
  readonly leaves: Record<string, string & number>[][];
}

overSuites<SecretTreeVector>(
  "secret-tree",
  "keys of every leaf and generation, in any order of use",
  (v, suite) => {
    const aead = aeadOf[suite];
    const sample = hex(v.sender_data.ciphertext).subarray(0, 32);
    const secret = hex(v.sender_data.sender_data_secret);
    assertEquals(
      bytesToHex(expandWithLabel(secret, label("key"), sample, aead.keyBytes)),
      v.sender_data.key,
    );
    assertEquals(
      bytesToHex(expandWithLabel(secret, label("nonce"), sample, aead.nonceBytes)),
      v.sender_data.nonce,
    );
    const tree = SecretTree.create(aead, 2 * v.leaves.length - 1, hex(v.encryption_secret));
    // From the last leaf to the first: the order in which senders appear must not matter.
    for (const [leafIndex, generations] of [...v.leaves.entries()].reverse()) {
      for (const expected of generations) {
        for (const kind of ["application", "handshake"] as const) {
          const found = tree.find(leafIndex, kind, Number(expected["generation"]));
          assert(typeof found !== "string");
          found.use();
          assertEquals(bytesToHex(found.key), expected[`${kind}_key`]);
          assertEquals(bytesToHex(found.nonce), expected[`${kind}_nonce`]);
        }
      }
    }
    assertEquals(deriveTreeSecret(secret, label("x"), 0, 32).length, 32);
  },
);

interface KeyScheduleVector {
  readonly cipher_suite: number;
  readonly initial_init_secret: string;
  readonly epochs: (Record<string, string> & { exporter: Record<string, string & number> })[];
}

overSuites<KeyScheduleVector>("key-schedule", "every secret of every epoch", (v) => {
  let init: Uint8Array = hex(v.initial_init_secret);
  for (const epoch of v.epochs) {
    const of = (name: string): Uint8Array => hex(epoch[name] ?? "");
    const context = of("group_context");
    const joiner = joinerSecret(init, of("commit_secret"), context);
    assertEquals(joiner, of("joiner_secret"));
    assertEquals(welcomeSecret(joiner, of("psk_secret")), of("welcome_secret"));
    const { secrets, encryption } = startEpoch(joiner, of("psk_secret"), context);
    assertEquals(encryption, of("encryption_secret"));
    assertEquals(secrets.senderData, of("sender_data_secret"));
    assertEquals(secrets.exporter, of("exporter_secret"));
    assertEquals(secrets.external, of("external_secret"));
    assertEquals(deriveKeyPair(secrets.external).publicKey, of("external_pub"));
    assertEquals(secrets.confirmation, of("confirmation_key"));
    assertEquals(secrets.membership, of("membership_key"));
    assertEquals(secrets.resumption, of("resumption_psk"));
    assertEquals(secrets.authenticator, of("epoch_authenticator"));
    assertEquals(secrets.init, of("init_secret"));
    const { label: name = "", context: exportContext = "", length = 0, secret = "" } =
      epoch.exporter;
    assertEquals(
      bytesToHex(exportSecret(secrets.exporter, name, hex(exportContext), Number(length))),
      secret,
    );
    init = secrets.init;
  }
});

interface PskVector {
  readonly cipher_suite: number;
  readonly psks: { psk_id: string; psk: string; psk_nonce: string }[];
  readonly psk_secret: string;
}

overSuites<PskVector>("psk_secret", "the secret of any number of pre-shared keys", (v) => {
  const ids = v.psks.map((psk): PreSharedKeyID => ({
    psktype: "external",
    pskId: hex(psk.psk_id),
    pskNonce: hex(psk.psk_nonce),
  }));
  const values = new Map(ids.map((id, i) => [id, hex(v.psks[i]?.psk ?? "")]));
  assertEquals(bytesToHex(pskSecretOf(ids, (id) => values.get(id))), v.psk_secret);
});

overSuites<Record<string, string> & { cipher_suite: number }>(
  "transcript-hashes",
  "both hashes and the tag",
  (v) => {
    const of = (name: string): Uint8Array => hex(String(v[name]));
    const authenticated = decodeExactly(
      decodeAuthenticatedContent,
      of("authenticated_content"),
      "AuthenticatedContent",
    );
    assert(authenticated.auth.contentType === "commit");
    const format = authenticated.wireformat === "mls_private_message" ? 2 : 1;
    const { signature, confirmationTag: tag } = authenticated.auth;
    const content = concatBytes(
      uint16(format),
      encodeFramedContent(authenticated.content),
      vector(signature),
    );
    const confirmed = confirmedTranscriptHash(of("interim_transcript_hash_before"), content);
    assertEquals(confirmed, of("confirmed_transcript_hash_after"));
    assertEquals(interimTranscriptHash(confirmed, tag), of("interim_transcript_hash_after"));
    assertEquals(confirmationTag(of("confirmation_key"), confirmed), tag);
  },
);

overSuites<Record<string, string> & { cipher_suite: SuiteId; epoch: number }>(
  "message-protection",
  "PrivateMessages of all three kinds open and their signatures hold",
  (v, suite) => {
    const of = (name: string): Uint8Array => hex(String(v[name]));
    const context = encodeGroupContext({
      version: "mls10",
      cipherSuite: suiteNames[suite],
      groupId: of("group_id"),
      epoch: BigInt(v.epoch),
      treeHash: of("tree_hash"),
      confirmedTranscriptHash: of("confirmed_transcript_hash"),
      extensions: [],
    });
    const aead = aeadOf[suite];
    const open = (
      bytes: Uint8Array,
    ): { message: SealedMessage; sender: number; plaintext: Uint8Array } => {
      const message = decodeSealedMessage(bytes);
      const { sender, generation, reuseGuard } = openSenderData(
        message,
        aead,
        of("sender_data_secret"),
      );
      // Each of these messages is the first of its epoch.
      const secretTree = SecretTree.create(aead, 3, of("encryption_secret"));
      const key = secretTree.find(sender, kindOf(message.contentType), generation);
      assert(typeof key !== "string");
      key.use();
      return { message, sender, plaintext: openContent(message, aead, key, reuseGuard) };
    };
    const check = (framed: FramedContent, signature: Uint8Array): void =>
      assert(
        portableSignatures.verifyHandshake(
          of("signature_pub"),
          contentToSign(framed, context),
          signature,
        ),
      );

    const application = open(of("application_priv"));
    const { data, signature } = readApplicationContent(application.plaintext);
    assertEquals([data, application.sender], [of("application"), 1]);
    check({ ...application.message, sender: 1, content: vector(data) }, signature);
    for (const contentType of ["proposal", "commit"] as const) {
      const { message, sender, plaintext } = open(of(`${contentType}_priv`));
      const handshake = readHandshakeContent(plaintext, contentType, of(contentType).length);
      assertEquals(handshake.content, of(contentType));
      check({ ...message, sender, content: handshake.content }, handshake.signature);
    }
    assertEquals(ed25519.getPublicKey(of("signature_priv")), of("signature_pub"));
  },
);

interface TreeKemVector {
  readonly cipher_suite: number;
  readonly group_id: string;
  readonly epoch: number;
  readonly confirmed_transcript_hash: string;
  readonly ratchet_tree: string;
  readonly leaves_private: {
    readonly index: number;
    readonly encryption_priv: string;
    readonly path_secrets: { readonly node: number; readonly path_secret: string }[];
  }[];
  readonly update_paths: {
    readonly sender: number;
    readonly update_path: string;
    readonly path_secrets: (string | null)[];
    readonly commit_secret: string;
    readonly tree_hash_after: string;
  }[];
}

overSuites<TreeKemVector>(
  "treekem",
  "trees are valid, paths apply, and every member finds the same secret",
  (v, suite) => {
    const tree = atOnce(RatchetTree.decode(hex(v.ratchet_tree), "ratchet tree"));
    atOnce(validateTree(tree));
    assertEquals(bytesToHex(tree.encode()), v.ratchet_tree);
    for (const update of v.update_paths) {
      const path = decodeExactly(decodeUpdatePath, hex(update.update_path), "UpdatePath");
      const after = applyPath(tree, update.sender, path);
      assertEquals(bytesToHex(after.hash()), update.tree_hash_after);
      const context = encodeGroupContext({
        version: "mls10",
        cipherSuite: suiteNames[suite],
        groupId: hex(v.group_id),
        epoch: BigInt(v.epoch),
        treeHash: after.hash(),
        confirmedTranscriptHash: hex(v.confirmed_transcript_hash),
        extensions: [],
      });
      for (const leaf of v.leaves_private.filter(({ index }) => index !== update.sender)) {
        const pathKeys = new Map(
          leaf.path_secrets.map(({ node, path_secret }) =>
            [node, deriveKeyPair(deriveSecret(hex(path_secret), label("node")))] as const
          ),
        );
        const opened = openPath({
          before: tree,
          sender: update.sender,
          path,
          newLeaves: new Set(),
          aead: aeadOf[suite],
          agreement: portableSignatures.agreement,
          ownLeaf: leaf.index,
          leafPrivateKey: hex(leaf.encryption_priv),
          pathKeys,
          context,
        });
        assertEquals(bytesToHex(opened.commitSecret), update.commit_secret);
      }
    }
  },
);

overSuites<Record<string, string & number> & { cipher_suite: number }>(
  "tree-operations",
  "adds, updates and removes lead to the same tree and hash",
  (v) => {
    const before = atOnce(RatchetTree.decode(hex(String(v["tree_before"])), "ratchet tree"));
    assertEquals(bytesToHex(before.hash()), v["tree_hash_before"]);
    const proposal = decodeExactly(decodeProposal, hex(String(v["proposal"])), "proposal");
    let after = before;
    if (proposal.proposalType === "add") {
      after = before.add(createLeaf(proposal.add.keyPackage.leafNode)).tree;
    } else if (proposal.proposalType === "remove") {
      after = before.replace(proposal.remove.removed, undefined);
    } else if (proposal.proposalType === "update") {
      after = before.replace(Number(v["proposal_sender"]), createLeaf(proposal.update.leafNode));
    }
    assertEquals(bytesToHex(after.encode()), v["tree_after"]);
    assertEquals(bytesToHex(after.hash()), v["tree_hash_after"]);
    // The cached hashes of the changed tree are those of the same tree built from nothing.
    const rebuilt = atOnce(RatchetTree.decode(after.encode(), "ratchet tree"));
    assertEquals(rebuilt.hash(), after.hash());
  },
);

interface PassiveVector {
  readonly cipher_suite: number;
  readonly key_package: string;
  readonly signature_priv: string;
  readonly encryption_priv: string;
  readonly init_priv: string;
  readonly welcome: string;
  readonly ratchet_tree: string | null;
  readonly external_psks: { readonly psk_id: string; readonly psk: string }[];
  readonly initial_epoch_authenticator: string;
  readonly epochs: {
    readonly proposals: string[];
    readonly commit: string;
    readonly epoch_authenticator: string;
  }[];
}

function ownKeyPackage(
  v: Pick<PassiveVector, "key_package" | "init_priv" | "encryption_priv">,
): OwnKeyPackage {
  const message = decodeExactly(decodeMlsMessage, hex(v.key_package), "KeyPackage");
  assert(message.wireformat === "mls_key_package");
  return {
    keyPackage: message.keyPackage,
    message: hex(v.key_package),
    reference: keyPackageReference(message.keyPackage),
    initPrivateKey: hex(v.init_priv),
    leafPrivateKey: hex(v.encryption_priv),
    sealSeed: undefined,
  };
}

function depsOf(v: PassiveVector, resumption: ReadonlyMap<bigint, Uint8Array>): GroupDeps {
  const psks = new Map(v.external_psks.map(({ psk_id, psk }) => [psk_id, hex(psk)]));
  return {
    signatures: portableSignatures,
    policy: () => undefined,
    randomBytes: () => {
      throw new Error("a passive client needs no randomness");
    },
    findPsk: (id) =>
      id.psktype === "external" ? psks.get(bytesToHex(id.pskId)) : resumption.get(id.pskEpoch),
  };
}

/**
 * These vectors send handshakes as PublicMessages, which channels do not: ts-mls takes them apart,
 * we process them.
 */
async function openPublic(bytes: Uint8Array, epoch: Epoch): Promise<AuthenticatedContent> {
  const message = decodeExactly(decodeMlsMessage, bytes, "PublicMessage");
  assert(message.wireformat === "mls_public_message");
  const tree = decodeExactly(decodeRatchetTree, epoch.tree.encode(), "ratchet tree");
  const deps = {
    randomBytes: (n: number): Uint8Array<ArrayBuffer> => new Uint8Array(n),
    signatures: portableSignatures,
  };
  const suite = createTsMlsSuite(epoch.suiteId, deps);
  return await unprotectPublicMessage(
    epoch.secrets.membership,
    epoch.context,
    tree,
    message.publicMessage,
    suite,
  );
}

async function passive(v: PassiveVector): Promise<void> {
  const resumption = new Map<bigint, Uint8Array>();
  const deps = depsOf(v, resumption);
  const welcome = decodeWelcomeMessage(hex(v.welcome));
  const tree = v.ratchet_tree === null ? {} : { ratchetTree: hex(v.ratchet_tree) };
  let { epoch } = atOnce(joinGroup({ welcome, own: ownKeyPackage(v), ...tree }, deps));
  assertEquals(bytesToHex(epoch.secrets.authenticator), v.initial_epoch_authenticator);
  for (const step of v.epochs) {
    resumption.set(epoch.context.epoch, epoch.secrets.resumption);
    const proposals = new Map<string, ProposalFrom>();
    for (const bytes of step.proposals) {
      const authenticated = await openPublic(hex(bytes), epoch);
      assert(
        authenticated.content.contentType === "proposal" &&
          authenticated.content.sender.senderType === "member",
      );
      const reference = refHash(proposalRefLabel, encodeAuthenticatedContent(authenticated));
      const { proposal, sender } = authenticated.content;
      proposals.set(bytesToHex(reference), { proposal, sender: sender.leafIndex });
    }
    const { content, auth } = await openPublic(hex(step.commit), epoch);
    assert(
      content.contentType === "commit" && auth.contentType === "commit" &&
        content.sender.senderType === "member",
    );
    const processed = atOnce(processCommit(epoch, {
      verifiedParts: new Set(),
      sender: content.sender.leafIndex,
      commit: content.commit,
      transcript: concatBytes(uint16(1), encodeFramedContent(content), vector(auth.signature)),
      confirmationTag: auth.confirmationTag,
      findProposal: (reference) => proposals.get(bytesToHex(reference)),
    }, deps));
    assert(processed.kind === "applied");
    epoch = processed.next;
    assertEquals(bytesToHex(epoch.secrets.authenticator), step.epoch_authenticator);
  }
}

interface WelcomeVector {
  readonly cipher_suite: number;
  readonly init_priv: string;
  readonly key_package: string;
  readonly signer_pub: string;
  readonly welcome: string;
}

overSuites<WelcomeVector>(
  "welcome",
  "the Welcome opens, its signer and its confirmation tag are right",
  (v) => {
    const own = ownKeyPackage({ ...v, encryption_priv: "" });
    const { groupInfo, groupSecrets, pskSecret } = openWelcome(
      decodeWelcomeMessage(hex(v.welcome)),
      own,
      { findPsk: () => undefined, signatures: portableSignatures },
    );
    assert(portableSignatures.verifyHandshakes([signedGroupInfo(groupInfo, hex(v.signer_pub))]));
    const { groupContext } = groupInfo;
    const { secrets } = startEpoch(
      groupSecrets.joinerSecret,
      pskSecret,
      encodeGroupContext(groupContext),
    );
    assertEquals(
      confirmationTag(secrets.confirmation, groupContext.confirmedTranscriptHash),
      groupInfo.confirmationTag,
    );
  },
);

interface MessagesVector {
  readonly [name: string]: string;
}

testWhen(
  vectors("mls/messages.json"),
  "mls/messages.json: every structure decodes, to the last byte, and encodes back",
  () => {
    for (const v of readVectors("mls/messages.json") as MessagesVector[]) {
      const messages = [
        "mls_welcome",
        "mls_group_info",
        "mls_key_package",
        "private_message",
        "public_message_commit",
      ];
      for (const name of [...messages, "public_message_application", "public_message_proposal"]) {
        const bytes = hex(v[name] ?? "");
        assertEquals(encodeMlsMessage(decodeExactly(decodeMlsMessage, bytes, name)), bytes);
        assertThrows(
          () => decodeExactly(decodeMlsMessage, concatBytes(bytes, uint16(0)), name),
          MlsFault,
        );
        assertThrows(() => decodeExactly(decodeMlsMessage, bytes.subarray(0, -1), name), MlsFault);
      }
      const structures = [["ratchet_tree", decodeRatchetTree], ["commit", decodeCommit]] as const;
      for (const [name, decoder] of structures) {
        decodeExactly<unknown>(decoder, hex(v[name] ?? ""), name);
      }
      const message = hex(v["private_message"] ?? "");
      assertEquals(encodeSealedMessage(decodeSealedMessage(message)), message);
    }
  },
);

overSuites<PassiveVector>("passive-client-welcome", "a passive member joins", passive);
overSuites<PassiveVector>(
  "passive-client-handling-commit",
  "a passive member joins and follows every commit",
  passive,
);
