/**
 * The state of an agent's names: what each one holds, whose turn it is, and who waits. It is plain
 * data, and `stepNames` alone changes it. A membership is a number here, and so is its leaf, which
 * a rejoin of its machine changes.
 */
import type { ChannelId, ChannelName } from "../../../proto/mod.ts";

/** The content of a name, in memory and on disk. */
export type NameSlot =
  /** The name holds nothing. */
  | { readonly at: "free" }
  /** A store that was damaged has lost the keys. */
  | { readonly at: "keyless"; readonly channelId: ChannelId }
  /** Nothing works on it: it has not been opened since the start, or is over. */
  | ({ readonly at: "resting" } & NamedMembership)
  /** The machine of its channel works. */
  | ({ readonly at: "open" } & NamedMembership)
  | ErasingSlot;

export interface NamedMembership {
  readonly channelId: ChannelId;
  /** The number by which the membership is left, and erased. */
  readonly membership: number;
  /** The leaf by which the membership is known again. */
  readonly leaf: number;
}

/** A membership that is being erased from the disk, step by step. */
export interface ErasingSlot extends NamedMembership {
  readonly at: "erasing";
  /**
   * `gone`: it was left, or a commit removed us. `closed`: it was closed. `replaced`: another
   * membership takes its place.
   */
  readonly why: "gone" | "closed" | "replaced";
  readonly step: ErasureStep;
  /** Undefined when it has failed: the next call tries again. */
  readonly job: number | undefined;
  /** Calls that end with it. */
  readonly waiting: readonly number[];
}

/** `end`: its machine comes to rest, and what it had to write is dropped. */
export type ErasureStep = "end" | "note" | "keys" | "rest";

/** The program's calls, by the number of their operation. */
export type NameCall =
  /** Creates a channel that does not exist yet. */
  | { readonly type: "create"; readonly operation: number }
  /** Joins by hand, or by what the relay has delivered. */
  | { readonly type: "join"; readonly operation: number }
  /**
   * Joins by the Welcome that answers an invite. `before`: the leaf that was here when the program
   * asked for the invite.
   */
  | { readonly type: "invited"; readonly operation: number; readonly before: number | undefined }
  /** Asks whether an invite may be asked for. */
  | { readonly type: "check"; readonly operation: number }
  /** Opens the channel that this name holds. `orCreates`: creates one if the name holds none. */
  | { readonly type: "open"; readonly operation: number; readonly orCreates: boolean }
  /** Leaves this membership, whether it goes on or is over. */
  | { readonly type: "leave"; readonly operation: number; readonly membership: number }
  /** The relay has closed this channel. */
  | { readonly type: "close"; readonly operation: number; readonly channelId: ChannelId };

/** The call whose turn it is, and what it waits for. */
export type NameTurn =
  /** The relay is asked who has this leaf. */
  | { readonly at: "asking"; readonly by: NameCall; readonly call: number; readonly leaf: number }
  /** The relay is asked to create a channel. */
  | {
    readonly at: "creating";
    readonly by: NameCall;
    readonly call: number;
    readonly isAgain: boolean;
  }
  /** An earlier call had made the channel: whether it is open is asked. */
  | {
    readonly at: "confirming";
    readonly by: NameCall;
    readonly call: number;
    readonly channelId: ChannelId;
  }
  /** A group of one is made for the channel that the relay has created. */
  | {
    readonly at: "making";
    readonly by: NameCall;
    readonly job: number;
    readonly channelId: ChannelId;
  }
  /** Welcomes are tried until one opens. */
  | {
    readonly at: "opening_welcome";
    readonly by: NameCall;
    readonly job: number;
    /** The leaf in whose place the new one may come. */
    readonly former: number | undefined;
    /** The first of those that led nowhere. */
    readonly refusal: NameRefusal | undefined;
  }
  /** The former membership is erased before the new one is written. */
  | ({ readonly at: "replacing" } & EnteredWelcome)
  /** The machine of the former membership closes before the new one is written. */
  | ({ readonly at: "retiring"; readonly job: number } & EnteredWelcome)
  /** The records are read, after the machine of before is at rest. */
  | { readonly at: "loading"; readonly by: NameCall; readonly job: number }
  /** The records tell how the membership can be left. `also`: others that leave the same. */
  | {
    readonly at: "recalling";
    readonly by: LeaveCall;
    readonly job: number;
    readonly also: readonly number[];
  }
  /** The relay is told that we leave. `isClosing`: it closes the channel, because we are alone. */
  | {
    readonly at: "leaving";
    readonly by: LeaveCall;
    readonly call: number;
    readonly isClosing: boolean;
    readonly also: readonly number[];
  };

/**
 * A Welcome that was opened. Its channel and its KeyPackage are held: no other name enters by them
 * meanwhile.
 */
export interface EnteredWelcome {
  readonly by: NameCall;
  /** The job that made the new membership. */
  readonly made: number;
  readonly channelId: ChannelId;
  /** Undefined for the one of last resort. */
  readonly key: string | undefined;
  readonly former: number | undefined;
  readonly refusal: NameRefusal | undefined;
}

export type LeaveCall = Extract<NameCall, { type: "leave" }>;

export interface NameState {
  slot: NameSlot;
  /** On disk, of a creation that was not answered. */
  nonce: string | undefined;
  turn: NameTurn | undefined;
  /** In the order in which they have their turn. */
  waiting: NameCall[];
}

/** `closeChannel` until the relay has closed it: it has no turn, so that nobody waits for it. */
export interface ClosingCall {
  readonly operation: number;
  readonly name: ChannelName;
  readonly call: number;
  /** Undefined while the relay is asked which one it is. */
  readonly channelId: ChannelId | undefined;
}

/** An erasure that an earlier process began. It holds no name. */
export interface LeftoverErasure {
  readonly channelId: ChannelId;
  readonly step: "keys" | "rest";
  /** Undefined before the start, and when it failed: the next start tries again. */
  readonly job: number | undefined;
}

export interface NamesState {
  readonly names: Partial<Record<ChannelName, NameState>>;
  leftovers: readonly LeftoverErasure[];
  closing: readonly ClosingCall[];
  /** Memberships that another one was written over. */
  overwritten: readonly number[];
  /** The last number that was given to a call, a job, a membership, a leaf. */
  numbers: number;
  /** The client is being closed; nothing is under way any more. */
  stage: "working" | "finishing" | "finished";
}

/** Knowledge of others at the moment of a step. */
export interface NamesFacts {
  /** Whether a membership that is open cannot go on: it is stopped, or waits to be let in again. */
  readonly isStuck: (membership: number) => boolean;
  /**
   * Whether the relay says of this channel that it does not exist because the pass is not for it.
   */
  readonly isHidden: (
    channel: { readonly name: ChannelName; readonly channelId: ChannelId },
  ) => boolean;
  /** Never used before. */
  readonly nonce: string;
  /**
   * Whether the disk has refused what this call had to write in this step: nothing of that was
   * written.
   */
  readonly isUnwritten: (operation: number) => boolean;
}

export type NamesEvent =
  /** The process starts: erasures that an earlier one began go on. */
  | { readonly type: "start" }
  /** The program calls for a name. */
  | { readonly type: "called"; readonly name: ChannelName; readonly by: NameCall }
  /** The program asks to close the channel of a name for everybody. */
  | { readonly type: "close"; readonly name: ChannelName; readonly operation: number }
  /** The relay has answered. */
  | { readonly type: "answered"; readonly call: number; readonly answer: NameAnswer }
  /** The relay has refused, or its answer was lost. */
  | { readonly type: "refused"; readonly call: number; readonly code: string }
  /** A job has ended. */
  | { readonly type: "done"; readonly job: number; readonly result: NameJobResult }
  /** A job has failed: the call fails, and the slot is as before. */
  | { readonly type: "failed"; readonly job: number }
  /**
   * The machine of a channel says that nothing is left to do but to erase it. `leaving`: the calls
   * that wait for that.
   */
  | { readonly type: "gone"; readonly membership: number; readonly leaving: readonly number[] }
  /** Nothing more comes; its keys stay. `leaving`: calls to leave that are not settled. */
  | { readonly type: "over"; readonly membership: number; readonly leaving: readonly number[] }
  /** The machine of a channel came back under another leaf. */
  | { readonly type: "rejoined"; readonly membership: number }
  /** The client is being closed: nothing but leaving is begun any more. */
  | { readonly type: "finish" };

export type NameAnswer =
  | { readonly of: "LeaveChannel" | "CloseChannel" }
  /** `isNew`: nobody has changed the channel since it was made. */
  | { readonly of: "ListMembers"; readonly isNew: boolean }
  | { readonly of: "CreateChannel"; readonly channelId: ChannelId; readonly isRepeated: boolean }
  /** Among the channels that the account owns. */
  | { readonly of: "ListChannels"; readonly channelId: ChannelId | undefined };

export type NameJobResult =
  | { readonly of: "make" | "retire" | "erase" }
  /**
   * `kept_out`: it is the last owner of others, or names a successor, and can make nobody another
   * one.
   */
  | { readonly of: "recall"; readonly way: "close" | "leave" | "kept_out" }
  | { readonly of: "load"; readonly hasKeys: boolean }
  /** `at`: which one of those that are here. */
  | {
    readonly of: "open_welcome";
    readonly channelId: ChannelId;
    readonly key: string | undefined;
    readonly at: number;
  };

export type NameRequest =
  | { readonly of: "ListMembers"; readonly channelId: ChannelId }
  | { readonly of: "LeaveChannel"; readonly channelId: ChannelId }
  | { readonly of: "CloseChannel"; readonly channelId: ChannelId }
  | { readonly of: "CreateChannel"; readonly name: ChannelName; readonly nonce: string }
  | { readonly of: "ListChannels"; readonly name: ChannelName };

export type NameJob =
  /** A group of one. */
  | {
    readonly of: "make";
    readonly operation: number;
    readonly name: ChannelName;
    readonly channelId: ChannelId;
  }
  /** The first one that opens, from this one on. */
  | { readonly of: "open_welcome"; readonly operation: number; readonly from: number }
  /** The machine of before comes to rest, then the records are read. */
  | { readonly of: "load"; readonly membership: number; readonly channelId: ChannelId }
  /** The machine of before comes to rest. From its records: how it can be left. */
  | { readonly of: "recall"; readonly channelId: ChannelId; readonly operation: number }
  /** The machine is closed, comes to rest and writes nothing any more. */
  | { readonly of: "retire"; readonly membership: number }
  | {
    readonly of: "erase";
    readonly membership: number | undefined;
    readonly channelId: ChannelId;
    readonly step: ErasureStep;
  };

export type NamesEffect =
  | { readonly type: "call"; readonly call: number; readonly request: NameRequest }
  | { readonly type: "job"; readonly job: number; readonly work: NameJob }
  /**
   * A machine works for this membership from now on, for this call. `from`: the job that made it,
   * or read it.
   */
  | {
    readonly type: "begin";
    readonly membership: number;
    readonly name: ChannelName;
    readonly channelId: ChannelId;
    readonly from: number;
    readonly operation: number;
  }
  /** The machine of this membership leaves. */
  | { readonly type: "depart"; readonly membership: number; readonly operation: number }
  | { readonly type: "settle"; readonly operation: number; readonly result: NameCallOutcome }
  /** The client is closed, and nothing of the names is under way any more. */
  | { readonly type: "finished" };

export type NameCallOutcome =
  | { readonly type: "done" }
  /** The handle of the program. */
  | { readonly type: "opened"; readonly membership: number }
  /** A program that asks for an invite may do so. */
  | { readonly type: "may_ask"; readonly before: number | undefined; readonly isStuck: boolean }
  | { readonly type: "refused"; readonly why: NameRefusal }
  /** With the error of this call or job. */
  | { readonly type: "failed"; readonly number: number }
  /** With the error of its write. */
  | { readonly type: "unwritten" };

export type NameRefusal =
  | "in_already"
  /** In a channel that the pass or key is not for. */
  | "hidden"
  /** The relay knows nothing of it, and its keys are here: its user says so. */
  | "forgotten"
  | "other_name"
  /** Another name enters with the same KeyPackage. */
  | "key_in_use"
  | "not_here"
  | "keys_lost"
  | "not_at_relay"
  | "replaced"
  | "kept_out"
  | "closing";

/** `operation`: the call that cannot go on without it. */
export type NamesWrite =
  | {
    readonly type: "nonce";
    readonly operation: number;
    readonly name: ChannelName;
    readonly nonce: string | undefined;
  }
  /**
   * The membership that this job made, in place of what the name held, and without the note of an
   * erasure of this channel. `isCreated`: the nonce goes. `keyless`: this record goes.
   */
  | {
    readonly type: "membership";
    readonly operation: number;
    readonly name: ChannelName;
    readonly channelId: ChannelId;
    readonly membership: number;
    readonly made: number;
    readonly isCreated: boolean;
    readonly keyless: ChannelId | undefined;
  }
  | {
    readonly type: "no_record";
    readonly operation: number;
    readonly name: ChannelName;
    readonly channelId: ChannelId;
  };

export interface NamesStep {
  /** On disk, in one write, before anything else happens. */
  readonly write: readonly NamesWrite[];
  readonly effects: readonly NamesEffect[];
}
