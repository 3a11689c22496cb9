/**
 * The relay's channels by their names, as plain data: who made them, whether they are closed, and
 * whether the agent is in. It judges as the relay's core does; `directory_contract_test.ts`
 * compares them.
 */

export interface Channel {
  readonly name: string;
  /** The agent's account made it. */
  readonly isOwn: boolean;
  isClosed: boolean;
  /** Of the agent: another number each time that it comes in. */
  seat: number | undefined;
  /** Nobody came or went since it was made. */
  isNew: boolean;
}

export interface Directory {
  readonly channels: Record<string, Channel>;
  /** The channel that the agent made with each nonce. */
  readonly nonces: Record<string, string>;
  seats: number;
  /** The agent's Welcome that was not taken. */
  welcome: { readonly id: string; readonly seat: number } | undefined;
}

export type Request =
  | { readonly of: "ListMembers"; readonly channelId: string }
  | { readonly of: "CreateChannel"; readonly name: string; readonly nonce: string }
  | { readonly of: "ListChannels"; readonly name: string }
  /** Names the membership that is left. */
  | { readonly of: "LeaveChannel"; readonly channelId: string; readonly seat: number }
  | { readonly of: "CloseChannel"; readonly channelId: string };

export type Reply =
  | { readonly of: "LeaveChannel" | "CloseChannel" }
  | { readonly of: "ListMembers"; readonly isNew: boolean }
  | { readonly of: "CreateChannel"; readonly channelId: string; readonly isRepeated: boolean }
  | { readonly of: "ListChannels"; readonly channelId: string | undefined }
  | { readonly refused: string };

export function newDirectory(): Directory {
  return { channels: {}, nonces: {}, seats: 0, welcome: undefined };
}

/** In the order in which they are made. */
export function addChannel(directory: Directory, name: string, isOwn: boolean): string {
  const id = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[Object.keys(directory.channels).length] ?? "";
  directory.channels[id] = { name, isOwn, isClosed: false, seat: undefined, isNew: true };
  return id;
}

/** The agent is in, under a new seat. */
export function addAgent(directory: Directory, id: string): number {
  const seat = ++directory.seats;
  const channel = directory.channels[id];
  if (channel !== undefined) Object.assign(channel, { seat, isNew: false });
  return seat;
}

export function removeAgent(directory: Directory, id: string): void {
  const channel = directory.channels[id];
  if (channel !== undefined) Object.assign(channel, { seat: undefined, isNew: false });
  if (directory.welcome?.id === id) directory.welcome = undefined;
}

export function closeChannel(directory: Directory, id: string): void {
  const channel = directory.channels[id];
  if (channel !== undefined) channel.isClosed = true;
  removeAgent(directory, id);
}

export function isMember(directory: Directory, id: string, seat?: number): boolean {
  const channel = directory.channels[id];
  if (channel?.seat === undefined || channel.isClosed) return false;
  return seat === undefined || seat === channel.seat;
}

/** A call of the agent. */
export function callDirectory(directory: Directory, request: Request): Reply {
  switch (request.of) {
    case "ListMembers":
      return isMember(directory, request.channelId)
        ? { of: request.of, isNew: directory.channels[request.channelId]?.isNew === true }
        : { refused: "not_found" };
    case "CreateChannel":
      return create(directory, request);
    case "ListChannels":
      return { of: request.of, channelId: findOwn(directory, request.name) };
    case "LeaveChannel": {
      const { channelId, seat } = request;
      if (!isMember(directory, channelId)) return { refused: "not_found" };
      if (!isMember(directory, channelId, seat)) return { refused: "state_conflict" };
      removeAgent(directory, channelId);
      return { of: request.of };
    }
    case "CloseChannel":
      return close(directory, request.channelId);
  }
}

/** The nonce outlives its channel. */
function create(
  directory: Directory,
  { name, nonce }: Extract<Request, { of: "CreateChannel" }>,
): Reply {
  const made = directory.nonces[nonce];
  if (made !== undefined && directory.channels[made]?.name !== name) {
    return { refused: "invalid_request" };
  }
  if (made !== undefined) return { of: "CreateChannel", channelId: made, isRepeated: true };
  if (findOwn(directory, name) !== undefined) return { refused: "name_taken" };
  const channelId = addChannel(directory, name, true);
  Object.assign(directory.channels[channelId] ?? {}, { seat: ++directory.seats });
  directory.nonces[nonce] = channelId;
  return { of: "CreateChannel", channelId, isRepeated: false };
}

function findOwn({ channels }: Directory, name: string): string | undefined {
  return Object.keys(channels).find((id) => {
    const channel = channels[id];
    return channel?.isOwn === true && !channel.isClosed && channel.name === name;
  });
}

/** Again, it is closed already. Of a channel of another account its members are not owners here. */
function close(directory: Directory, channelId: string): Reply {
  const channel = directory.channels[channelId];
  if (channel === undefined) return { refused: "not_found" };
  if (!channel.isOwn) {
    return { refused: isMember(directory, channelId) ? "not_allowed" : "not_found" };
  }
  closeChannel(directory, channelId);
  return { of: "CloseChannel" };
}
