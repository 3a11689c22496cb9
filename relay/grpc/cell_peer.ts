/** Where a call that carries cells comes from. */
export interface CellPeer {
  readonly remoteAddress: string;
  /** Its session has authenticated: limits on strangers no longer count its connection. */
  readonly vouch: () => void;
}
