/**
 * Forty mistakes that a person could make where a lie of a relay or a member does most harm: the
 * channels and groups of the SDK, and the relay's core. Each compiles, loads, and breaks one
 * promise. The name says what a user would suffer.
 */
import type { PlantedFault } from "./planted_fault.ts";

export const heartFaults: readonly PlantedFault[] = [
  {
    name: "owner-blames-a-member-that-signed-nothing",
    path: "sdk/channel/recovery/following.ts",
    from:
      "if (!isBlamed || !verify(proof.signatureKey, provenBytes(proof, commit), proof.signature)) {",
    to:
      "if (!isBlamed && !verify(proof.signatureKey, provenBytes(proof, commit), proof.signature)) {",
  },
  {
    name: "confirmation-of-others-needs-no-signature",
    path: "sdk/channel/runner/confirmation_runner.ts",
    from: "const areAllTrue = signatures.verifyHandshakes(items);",
    to: "const areAllTrue = items.length > 0 || signatures.verifyHandshakes(items);",
  },
  {
    name: "message-is-read-under-another-epoch-than-its-own",
    path: "sdk/channel/reading/read_message.ts",
    from: "if (header.epoch !== body.epoch) {",
    to: "if (header.epoch > body.epoch) {",
  },
  {
    name: "commit-is-followed-under-another-epoch-than-its-own",
    path: "sdk/channel/reading/read_commit.ts",
    from: "if (facts.headerOf(body)?.epoch !== body.epoch) return",
    to: "if (facts.headerOf(body) === undefined) return",
  },
  {
    name: "owner-that-is-stopped-again-takes-a-members-welcome",
    path: "sdk/channel/recovery/welcome_back.ts",
    from:
      '  if (isAgain) {\n    return "this agent was stopped soon after it was let in, and it was not made by an owner";\n  }\n',
    to: "",
  },
  {
    name: "welcome-back-into-a-group-without-some-members",
    path: "sdk/channel/recovery/welcome_back.ts",
    from: "return membership.group.members().some(({ agentId }) =>\n    !present.has(agentId)",
    to: "return membership.group.members().every(({ agentId }) => !present.has(agentId)",
  },
  {
    name: "leave-that-its-member-has-not-signed-removes-it",
    path: "sdk/channel/group/departures.ts",
    from: "return generation;\n    }\n    return undefined;\n  }",
    to: "return generation;\n    }\n    return present;\n  }",
  },
  {
    name: "lapse-of-an-earlier-membership-marks-the-present-one",
    path: "sdk/channel/group/departures.ts",
    from: "lapsed.has(agentId) || epoch < (since.get(agentId)?.epoch ?? 0)\n    ) return [];",
    to: "lapsed.has(agentId) || epoch > (since.get(agentId)?.epoch ?? Infinity)) return [];",
  },
  {
    name: "channel-that-was-joined-again-is-erased-at-the-next-start",
    path: "sdk/channel/entering.ts",
    from: "    endErasing(channelId),\n",
    to: "    ...(rejoined ? [endErasing(channelId)] : []),\n",
  },
  {
    name: "member-that-was-let-back-in-is-stopped-after-a-restart",
    path: "sdk/channel/entering.ts",
    from: "    deleteBadCommit(channelId),\n",
    to: "    ...(rejoined ? [] : [deleteBadCommit(channelId)]),\n",
  },
  {
    name: "latest-removals-are-forgotten-and-old-ones-kept",
    path: "sdk/channel/reading/endings.ts",
    from: ".slice(-maxEndings);",
    to: ".slice(0, maxEndings);",
  },
  {
    name: "missing-messages-are-hidden-by-a-later-word-about-others",
    path: "sdk/channel/reading/senders.ts",
    from:
      "return gone !== undefined && gone.first <= highest + 1 && gone.first + gone.count >= counter;",
    to: "return gone !== undefined && highest > 0 && gone.first + gone.count >= counter;",
  },
  {
    name: "restored-clock-keeps-an-owner-from-recovering",
    path: "sdk/channel/recovery/own_founding.ts",
    from: "elapsedMs < 0 || elapsedMs >= patienceMs ||",
    to: "elapsedMs >= patienceMs ||",
  },
  {
    name: "commit-that-was-given-up-is-forgotten",
    path: "sdk/channel/commits/commit_end.ts",
    from: "if (sends === 1 && !isAgain && !isUnknown) {",
    to: "if (!isUnknown) {",
  },
  {
    name: "agent-that-came-back-contradicts-its-own-word",
    path: "sdk/channel/upkeep/confirmation.ts",
    from: "(own.epoch > epoch || (own.epoch === epoch && !equalBytes(own.state, said.state)))",
    to: "own.epoch > epoch && !equalBytes(own.state, said.state)",
  },
  {
    name: "expired-key-package-comes-in-by-a-request-to-return",
    path: "sdk/channel/runner/rejoin_claims.ts",
    from: "checkLifetime(keyPackage, clocksOf(this.#deps));",
    to: "checkLifetime(keyPackage, clocksOf(this.#deps).slice(0, 1));",
  },
  {
    name: "key-of-a-request-stays-on-disk-after-the-channel",
    path: "sdk/channel/runner/recovery_runner.ts",
    from: "this.#bytes.asked.filter(",
    to: "this.#state.spent.filter(",
  },
  {
    name: "honest-agent-is-told-that-its-directory-was-restored",
    path: "sdk/channel/runner/store_age.ts",
    from: "commit.epoch < epoch || commit.epoch <= this.#anchor.formerEpoch) {",
    to: "commit.epoch < epoch) {",
  },
  {
    name: "kept-commit-of-another-epoch-is-put-back",
    path: "sdk/channel/runner/kept_commits.ts",
    from: "return envelope.body.epoch === epoch ? envelope.body : undefined;",
    to: "return envelope.body;",
  },
  {
    name: "leaf-in-a-welcome-needs-no-signature",
    path: "sdk/mls/welcome.ts",
    from: "signed.push(signedLeaf(node, { groupId: groupContext.groupId, leafIndex }));",
    to:
      'if (node.leafNodeSource === "commit") signed.push(signedLeaf(node, { groupId: groupContext.groupId, leafIndex }));',
  },
  {
    name: "keys-to-speak-in-a-past-epoch-stay-in-memory",
    path: "sdk/mls/past_epochs.ts",
    from: "    secretTree.forget(ownLeaf);\n",
    to: "",
  },
  {
    name: "keys-to-speak-in-a-past-epoch-stay-on-disk",
    path: "sdk/mls/recorded_group.ts",
    from: "        this.#delete(ratchetId(old, old.ownLeaf)),\n",
    to: "",
  },
  {
    name: "member-fills-the-memory-of-others-with-skipped-keys",
    path: "sdk/mls/secret_tree.ts",
    from: "(this.#skipped.get(chain) ?? 0) + ahead);",
    to: "(this.#skipped.get(chain) ?? 0) + 1);",
  },
  {
    name: "demoted-owner-is-heard-under-posting-by-owners",
    path: "sdk/mls/policy_rules.ts",
    from:
      "if (samePolicy(before.policy, now.policy) && before.owners.join() === now.owners.join()) {",
    to: "if (samePolicy(before.policy, now.policy)) {",
  },
  {
    name: "channel-without-owners-lets-nobody-in",
    path: "sdk/mls/policy_rules.ts",
    from: "return owners.length === 0 ? openPolicy : policy ?? openPolicy;",
    to: "return policy === undefined || owners === undefined ? openPolicy : policy;",
  },
  {
    name: "agent-from-before-the-absence-vouches-for-a-stranger",
    path: "sdk/mls/admissions.ts",
    from: "admission.epoch < known.epoch ||",
    to: "admission.epoch < 0 ||",
  },
  {
    name: "blamed-member-vouches-for-the-way-back",
    path: "sdk/mls/admissions.ts",
    from: "if (signer === known.blamed) continue;",
    to: "",
  },
  {
    name: "owners-change-is-replayed-by-another-owner",
    path: "sdk/mls/owners_rules.ts",
    from:
      "if (!equalBytes(change.signatureKey, signatureKey) || !equalBytes(change.identity, identity)) {",
    to:
      'if (change.kind === "policy" && !(equalBytes(change.signatureKey, signatureKey) && equalBytes(change.identity, identity))) {',
  },
  {
    name: "policy-of-before-an-undone-commit-is-believed",
    path: "sdk/mls/owners_chain.ts",
    from: "checkPolicy(shown, later === undefined ? known.policy : later.policy);",
    to: "if (later !== undefined) checkPolicy(shown, later.policy);",
  },
  {
    name: "removed-member-is-brought-back-by-its-own-leave",
    path: "sdk/mls/channel_rules.ts",
    from:
      "const twice = aad.leaves.some(({ agentId }) =>\n    aad.rejoins.some((other) => other.agentId === agentId)\n  );",
    to: "const twice = aad.leaves.some((leave) => aad.rejoins.includes(leave));",
  },
  {
    name: "two-that-join-at-once-use-an-invite-up-once",
    path: "relay/core/requests/invite_records.ts",
    from: "const uses = invite.uses - agents.length;",
    to: "const uses = invite.uses - 1;",
  },
  {
    name: "expired-invite-still-lets-in",
    path: "relay/core/requests/invite_records.ts",
    from: "if (stored === undefined || stored.expiresAtMs <= core.deps.nowMs()) return undefined;",
    to: "if (stored === undefined || stored.expiresAtMs === 0) return undefined;",
  },
  {
    name: "owner-that-left-closes-the-channel",
    path: "relay/core/requests/channel_requests.ts",
    from:
      'state.owners.has(agent.agentId) &&\n    state.members.get(agent.agentId)?.leaving?.reason !== "left";',
    to: "state.owners.has(agent.agentId) && state.members.has(agent.agentId);",
  },
  {
    name: "request-of-one-that-left-stays-open",
    path: "relay/core/requests/channel_requests.ts",
    from: "if (open !== undefined) core.joins.remove(open.requestId);",
    to: 'if (open?.kind === "join") core.joins.remove(open.requestId);',
  },
  {
    name: "agent-that-left-asks-itself-back-in",
    path: "relay/core/requests/rejoin_requests.ts",
    from: 'member === undefined ||\n    member.leaving?.reason === "left"\n  ) {',
    to: "member === undefined) {",
  },
  {
    name: "member-online-at-another-relay-lapses",
    path: "relay/core/upkeep/log_retention.ts",
    from: "if (channel.subscriptions.has(agentId) || deps.cluster?.isOnline(agentId)) continue;",
    to: "if (channel.subscriptions.has(agentId)) continue;",
  },
  {
    name: "restored-directory-goes-unnoticed-after-messages-were-dropped",
    path: "relay/core/upkeep/log_retention.ts",
    from:
      "if (channel.snapshotSequence < through) await saveSnapshot(channel, deps, 1);\n  await engine.dropMessages(",
    to: "await saveSnapshot(channel, deps);\n  await engine.dropMessages(",
  },
  {
    name: "old-invites-hold-for-a-member-that-left-and-returned",
    path: "relay/core/channel/channel_state.ts",
    from: 'const sinceSequence = rejoined === undefined || rejoined.leaving?.reason === "left"',
    to: "const sinceSequence = rejoined === undefined",
  },
  {
    name: "refused-removal-uses-up-the-channels-reserve",
    path: "relay/core/requests/handshake_payment.ts",
    from: "  reserves.giveBack(channelId, bytes);\n  return undefined;",
    to: "  return undefined;",
  },
  {
    name: "older-confirmation-takes-the-place-of-a-newer-one",
    path: "relay/core/channel/confirmations.ts",
    from: "if (isSame || known.epoch > epoch) return;",
    to: "if (isSame) return;",
  },
];
