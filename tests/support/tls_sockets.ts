/** TLS sockets of this process that are in memory, whether or not anybody still uses them. */
import { TLSSocket } from "node:tls";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

export interface TlsSockets extends Disposable {
  /** Since the beginning. */
  readonly made: number;
  /** Collects garbage, and counts those that are left. */
  left(): number;
}

export function watchTlsSockets(): TlsSockets {
  setFlagsFromString("--expose-gc");
  // cast: V8's own, which the flag has just made
  const collect = runInNewContext("gc") as () => void;
  const made: WeakRef<object>[] = [];
  const prototype = TLSSocket.prototype as unknown as {
    _init: (this: object, ...given: unknown[]) => void;
  }; // cast: not in the types
  const init = prototype._init;
  prototype._init = function (...given): void {
    made.push(new WeakRef(this));
    init.apply(this, given);
  };
  return {
    get made() {
      return made.length;
    },
    left: () => {
      collect();
      return made.filter((each) => each.deref() !== undefined).length;
    },
    [Symbol.dispose]: () => void (prototype._init = init),
  };
}
