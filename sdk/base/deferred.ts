/**
 * A promise that somebody else settles. `Promise.withResolvers` is what this is; Node 20 does not
 * have it yet.
 */

export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (reason: unknown) => void;
}

export function createDeferred<T>(): Deferred<T> {
  let [resolve, reject]: [(value: T) => void, (reason: unknown) => void] = [() => {}, () => {}];
  const promise = new Promise<T>((...settle) => [resolve, reject] = settle);
  return { promise, resolve, reject };
}
