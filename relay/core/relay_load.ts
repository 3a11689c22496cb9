/** The facts that a relay tells others of itself, every second. */
export interface RelayLoad {
  readonly sessions: number;
  /** The relay takes agents, and has room on its disk. */
  readonly hasRoom: boolean;
  /** Sessions that it may have; less while it begins, 0 if it takes none. */
  readonly capacity: number;
  /** The relay has served for a while, and nothing keeps it from taking agents. */
  readonly isSteady: boolean;
  /** The relay sends sessions to others at the moment. */
  readonly isSending: boolean;
}

/** The load of a relay that says nothing. */
export const unknownLoad: RelayLoad = {
  sessions: 0,
  hasRoom: false,
  capacity: 0,
  isSteady: false,
  isSending: false,
};
