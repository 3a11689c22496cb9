/** The end of a request before its time, as its handler hears of it. */
/**
 * Why a handler's request ended early: the peer reset the stream, the connection was lost, or the
 * peer broke a rule.
 */
export class StreamAborted extends Error {
  override readonly name = "StreamAborted";
  /** The code of the RST_STREAM, or `cancel` when the whole connection went away. */
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}
