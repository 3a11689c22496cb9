/** All commands, in the order in which help shows them. */
import type { Command } from "./command.ts";
import { changePassphrase, repairAgent, verifyAgent } from "./commands/agent_store.ts";
import { login, logout, signup, whoami } from "./commands/account.ts";
import {
  closeChannel,
  createChannel,
  leaveChannel,
  listChannels,
  removeMember,
  showFingerprint,
} from "./commands/channel.ts";
import { showHealth } from "./commands/channel_health.ts";
import { recoverChannel } from "./commands/channel_recover.ts";
import { demoteMember, promoteMember, rotateKeys, showPolicy } from "./commands/channel_owners.ts";
import { inviteToChannel, joinChannel } from "./commands/channel_entry.ts";
import { chat } from "./commands/channel_chat.ts";
import { listen, sendMessage } from "./commands/channel_messages.ts";
import { onMessage } from "./commands/channel_on_message.ts";
import { completionCommand } from "./commands/completion.ts";
import { demo } from "./commands/demo.ts";
import { deleteAgent, listAgents, setReceipts } from "./commands/agents.ts";
import { listMembers, trustCommands } from "./commands/trust/trust_commands.ts";
import { helpCommand } from "./commands/help.ts";
import { deleteReader, hostStatus, listReaders, startHost, stopHost } from "./commands/host.ts";
import { listInvites, revokeInvite } from "./commands/invites.ts";
import { doctor } from "./commands/doctor.ts";
import { createKey, listKeys, revokeKey } from "./commands/keys.ts";
import { rotateKey } from "./commands/key_rotation.ts";
import { claim, reset } from "./commands/account_by_mail.ts";
import {
  changeEmail,
  removeAccount,
  setPassword,
  showAccount,
  verifyAddress,
} from "./commands/own_account.ts";
import { token, usage } from "./commands/tokens_and_usage.ts";
import {
  dropHeld,
  listHeld,
  mcp,
  mcpPolicy,
  releaseHeld,
  remoteToolCommands,
  wakeCommands,
} from "./model_commands.ts";

export const commands: readonly Command[] = [
  signup,
  login,
  logout,
  whoami,
  showAccount,
  verifyAddress,
  changeEmail,
  setPassword,
  reset,
  claim,
  removeAccount,
  createKey,
  listKeys,
  revokeKey,
  rotateKey,
  token,
  usage,
  createChannel,
  inviteToChannel,
  joinChannel,
  sendMessage,
  listen,
  chat,
  onMessage,
  listMembers,
  removeMember,
  promoteMember,
  demoteMember,
  showPolicy,
  rotateKeys,
  recoverChannel,
  showFingerprint,
  showHealth,
  listChannels,
  leaveChannel,
  closeChannel,
  listInvites,
  revokeInvite,
  listAgents,
  setReceipts,
  deleteAgent,
  ...trustCommands,
  startHost,
  hostStatus,
  stopHost,
  listReaders,
  deleteReader,
  mcp,
  mcpPolicy,
  listHeld,
  releaseHeld,
  dropHeld,
  ...remoteToolCommands,
  ...wakeCommands,
  verifyAgent,
  repairAgent,
  changePassphrase,
  doctor,
  demo,
  completionCommand(() => commands),
  helpCommand(() => commands),
];
