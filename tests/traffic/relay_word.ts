/** The test that shows each row of docs/relay_word.md. */

export interface Shown {
  /** The first that the row names. */
  readonly said: string;
  readonly path: string;
  /** The test's name, or that of a step, as it stands in the file. */
  readonly name: string;
}

export const shownBy: readonly Shown[] = [
  {
    said: "GetChallenge.version",
    path: "sdk/session/hostile_relay_test.ts",
    name: "a version that was not offered",
  },
  {
    said: "GetChallenge.nonce",
    path: "relay/core/relay_core_test.ts",
    name: "a session is that of an agent only after it signed a fresh challenge",
  },
  {
    said: "GetChallenge.cellBytes",
    path: "sdk/session/hostile_relay_test.ts",
    name: "a second answer of another size to GetChallenge",
  },
  {
    said: "Authenticate.agentId",
    path: "sdk/session/hostile_relay_test.ts",
    name: "another agent's id",
  },
  {
    said: "Authenticate.relayTimeMs",
    path: "sdk/invites/invite_book_test.ts",
    name: "an invite ends by our own clock too: a relay that turns its clock back keeps none alive",
  },
  {
    said: "Authenticate.expiresAtMs",
    path: "sdk/session/session_test.ts",
    name:
      "a session that expired opens again with another token; a refused token is replaced once, then it is over",
  },
  {
    said: "Authenticate.limits",
    path: "sdk/session/hostile_relay_test.ts",
    name: "limits above those of the protocol are not believed",
  },
  {
    said: "Authenticate.returnWithinMs",
    path: "sdk/session/returning_test.ts",
    name: "a time that is too long is cut, and a relay without one costs the usual wait",
  },
  {
    said: "Ping.relayTimeMs",
    path: "sdk/session/session_test.ts",
    name: "a token is renewed as often as before when the machine's clock is set by hours",
  },
  {
    said: "Authenticate.keyPackages",
    path: "sdk/channel/runner/key_package_runner_test.ts",
    name: "a relay that asks without end does not fill the disk",
  },
  {
    said: "CoverStopped",
    path: "sdk/session/session_test.ts",
    name:
      "when the relay's budget is used up the client stops its own cover until the time that it is told",
  },
  {
    said: "SessionEnding",
    path: "sdk/session/session_test.ts",
    name: "a relay that asks to be left alone is, and one that names a year is not believed",
  },
  {
    said: "CreateChannel.channelId",
    path: "tests/scenario/membership/channel_impersonation_test.ts",
    name: "a relay that answers to CreateChannel with the id of another channel costs no keys",
  },
  {
    said: "ListChannels.channels",
    path: "tests/scenario/hostile_relay/false_words_of_relay_test.ts",
    name: "a list of channels that the relay makes up costs no keys of another channel",
  },
  {
    said: "ListMembers.members",
    path: "tests/scenario/membership/absent_members_test.ts",
    name: "an absent member that the relay leaves out of its lists stays one, and comes back",
  },
  {
    said: "AddMember.keyPackage",
    path: "tests/scenario/hostile_relay/false_words_of_relay_test.ts",
    name: "a relay that gives another agent's KeyPackage for the one that is added adds nobody",
  },
  {
    said: "SendMessage.duplicate",
    path: "tests/scenario/hostile_relay/false_words_of_relay_test.ts",
    name:
      "a message that the relay drops, and calls one that it had before, is missed by those that count, and told to its sender",
  },
  {
    said: "SendCommit.sequence",
    path: "tests/scenario/hostile_relay/dropped_and_repeated_messages_test.ts",
    name:
      "an owner whose commit the relay took and forgot notices it with the next connection, and puts it back",
  },
  {
    said: "FindCommit.epoch",
    path: "tests/scenario/recovery/recovery_withdrawn_test.ts",
    name:
      "a relay that denies the commit and delivers it makes a member go on once for each connection",
  },
  {
    said: "ClaimForFounding.keyPackages",
    path: "tests/scenario/recovery/recovery_under_attack_test.ts",
    name:
      "members whose KeyPackages have no private keys any more, as one that was used before keep nobody from coming back, themselves included",
  },
  {
    said: "FoundGeneration.sequence",
    path: "tests/scenario/hostile_relay/false_words_of_relay_test.ts",
    name:
      "an owner whose founding the relay took, and did not put into the log, is told with the next connection",
  },
  {
    said: "Subscribe.after",
    path: "tests/scenario/hostile_relay/dropped_and_repeated_messages_test.ts",
    name: "a place in the log that the relay makes up is left behind: what comes later is read",
  },
  {
    said: "Subscribe.epoch",
    path: "tests/scenario/rejoin/rejoin_out_of_step_test.ts",
    name: "an epoch that the relay made up is forgotten with the next connection",
  },
  {
    said: "Subscribe.log",
    path: "tests/scenario/recovery/restored_relay_backup_test.ts",
    name: "a place in the log before is not acknowledged in a log that was set back",
  },
  {
    said: "Subscribe.joinedSequence",
    path: "tests/scenario/rejoin/restored_agent_backup_test.ts",
    name: "a relay that merely claims what an agent did gains three rejoins an hour",
  },
  {
    said: "ReadOwn.message",
    path: "tests/scenario/rejoin/restored_agent_backup_test.ts",
    name: "a relay and a member that make up a message of an agent prove nothing",
  },
  {
    said: "RequestJoin.requestId",
    path: "tests/scenario/hostile_relay/false_words_of_relay_test.ts",
    name:
      "an inviter's refusal that the relay makes up ends one attempt to join, and the same token works",
  },
  {
    said: "RequestRejoin.requestId",
    path: "tests/scenario/hostile_relay/dropped_and_repeated_messages_test.ts",
    name:
      "leaves that an agent did not make, or that are of another group, change nothing in its request",
  },
  {
    said: "CreateChannel.welcome",
    path: "tests/scenario/hostile_relay/false_words_of_relay_test.ts",
    name: "fields of replies that the SDK does not read may say anything",
  },
  {
    said: "GetChallenge.expiresInMs",
    path: "sdk/session/hostile_relay_test.ts",
    name: "replies of the session that the SDK does not read may say anything",
  },
  {
    said: "SendWelcome.sequence",
    path: "sdk/session/session_test.ts",
    name:
      "the last acknowledgement of a channel leaves before the next request, and none leaves offline",
  },
  {
    said: "DeliverMessage",
    path: "tests/scenario/hostile_relay/dropped_and_repeated_messages_test.ts",
    name: "a message that the relay drops for good is missed and reported",
  },
  {
    said: "DeliverCommit",
    path: "tests/scenario/hostile_relay/dropped_and_repeated_messages_test.ts",
    name: "a relay that withholds a commit for good is found out, and the member rejoins",
  },
  {
    said: "DeliverWelcome",
    path: "tests/scenario/rejoin/rejoin_under_attack_test.ts",
    name:
      "Welcomes of garbage before and after the good one, at every request, do not keep an asker out",
  },
  {
    said: "DeliverLeave",
    path: "tests/scenario/rejoin/rejoin_by_statement_test.ts",
    name: "a leave statement that the relay replays after a new invite removes nobody",
  },
  {
    said: "DeliverGap",
    path: "tests/scenario/hostile_relay/false_words_of_relay_test.ts",
    name:
      "a relay that delivers word of a gap in place of a message is believed no more than the sender's counter",
  },
  {
    said: "DeliverChannelEnd",
    path: "tests/scenario/rejoin/rejoin_out_of_step_test.ts",
    name:
      "a channel that the relay calls over is opened again by its application, and goes on if that was a lie",
  },
  {
    said: "DeliverJoinRequest",
    path: "tests/scenario/hostile_relay/false_words_of_relay_test.ts",
    name: "a relay that has an owner's invite does not make a member go and come again",
  },
  {
    said: "DeliverRejoinRequest",
    path: "tests/scenario/hostile_relay/false_words_of_relay_test.ts",
    name: "a member makes the others let it in 24 times a day by asking, and no more",
  },
  {
    said: "DeliverLapse",
    path: "tests/scenario/membership/lapsed_members_test.ts",
    name:
      "members() shows what the relay says of a member beside when this agent heard of it, and health() what to do",
  },
  {
    said: "DeliverStart",
    path: "tests/scenario/rejoin/rejoin_out_of_step_test.ts",
    name:
      "an agent to which the relay did not say that entries begin asks again, on the same connection",
  },
  {
    said: "DeliverFounding",
    path: "tests/scenario/recovery/recovery_under_attack_test.ts",
    name: "an owner and the relay blame nobody for a commit that another member signed",
  },
  {
    said: "DeliverConfirmations",
    path: "tests/scenario/hostile_relay/network_split_test.ts",
    name: "a signature that does not fit says nothing about anybody",
  },
  {
    said: "DeliverUnconfirmed",
    path: "sdk/channel/upkeep/fork_watch_test.ts",
    name: "a member that the relay calls connected and that says nothing for ten minutes is silent",
  },
  {
    said: "auth_failed",
    path: "sdk/session/session_test.ts",
    name:
      "a session that expired opens again with another token; a refused token is replaced once, then it is over",
  },
  {
    said: "overloaded",
    path: "sdk/session/session_test.ts",
    name: "a relay that asks to be left alone is, and one that names a year is not believed",
  },
  {
    said: "not_found",
    path: "tests/scenario/hostile_relay/false_words_of_relay_test.ts",
    name:
      "a relay that calls a channel over makes nobody erase its keys by creating another one, or by a stranger's Welcome",
  },
  {
    said: "membership_lapsed",
    path: "tests/scenario/membership/lapsed_members_test.ts",
    name: "the only owner does not go while it is kept out by the relay's word",
  },
  {
    said: "state_conflict",
    path: "tests/scenario/hostile_relay/false_words_of_relay_test.ts",
    name:
      "a relay that says that an agent has other keys gains no way back more of one that came back twelve times in a day",
  },
  {
    said: "epoch_conflict",
    path: "tests/scenario/hostile_relay/dropped_and_repeated_messages_test.ts",
    name: "a relay that takes a commit and says that another one was first leaves nobody behind",
  },
  {
    said: "cursor_invalid",
    path: "tests/scenario/rejoin/rejoin_out_of_step_test.ts",
    name: "a place that the log never had is forgotten: what is read afterwards is acknowledged",
  },
  {
    said: "join_timeout",
    path: "tests/scenario/hostile_relay/false_words_of_relay_test.ts",
    name:
      "whatever reason the relay gives for a refusal, nobody is out of the channel and no keys are lost",
  },
];
