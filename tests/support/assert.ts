/**
 * The part of `@std/assert` that our tests use, over `node:assert/strict`. The original lives only
 * on JSR, which is not reachable everywhere we build; the import map's `@std/assert` line is the
 * one place to switch.
 */
import strict from "node:assert/strict";

export const AssertionError = strict.AssertionError;

type ErrorClass<E extends Error> = abstract new (...args: never[]) => E;

export function assert(condition: unknown, message = "expected a truthy value"): asserts condition {
  if (!condition) throw new AssertionError({ message });
}

export function assertEquals<T>(actual: T, expected: T, message?: string): void {
  strict.deepStrictEqual(actual, expected, message);
}

export function assertNotEquals<T>(actual: T, expected: T, message?: string): void {
  strict.notDeepStrictEqual(actual, expected, message);
}

export function assertStrictEquals<T>(
  actual: unknown,
  expected: T,
  message?: string,
): asserts actual is T {
  strict.strictEqual(actual, expected, message);
}

export function assertExists<T>(
  actual: T,
  message = "expected a value",
): asserts actual is NonNullable<T> {
  assert(actual !== undefined && actual !== null, message);
}

export function assertMatch(actual: string, pattern: RegExp, message?: string): void {
  strict.match(actual, pattern, message);
}

export function assertStringIncludes(actual: string, part: string, message?: string): void {
  assert(
    actual.includes(part),
    message ?? `expected ${JSON.stringify(actual)} to contain ${JSON.stringify(part)}`,
  );
}

export function assertGreater(actual: number, limit: number, message?: string): void {
  assert(actual > limit, message ?? `expected ${actual} > ${limit}`);
}

export function assertLess(actual: number, limit: number, message?: string): void {
  assert(actual < limit, message ?? `expected ${actual} < ${limit}`);
}

export function assertLessOrEqual(actual: number, limit: number, message?: string): void {
  assert(actual <= limit, message ?? `expected ${actual} <= ${limit}`);
}

export function assertInstanceOf<E>(
  actual: unknown,
  type: abstract new (...args: never[]) => E,
  message?: string,
): asserts actual is E {
  assert(
    actual instanceof type,
    message ?? `expected an instance of ${type.name}, got ${String(actual)}`,
  );
}

/**
 * Runs `act`, which must throw an `ErrorType` whose message contains `part`, and returns what was
 * thrown.
 */
export function assertThrows<E extends Error>(
  act: () => unknown,
  ErrorType: ErrorClass<E>,
  part = "",
): E {
  let thrown: unknown;
  try {
    act();
  } catch (error) {
    thrown = error;
  }
  return checkThrown(thrown, ErrorType, part);
}

/**
 * Awaits `act`, which must reject with an `ErrorType` whose message contains `part`, and returns
 * the error.
 */
export async function assertRejects<E extends Error>(
  act: () => PromiseLike<unknown>,
  ErrorType: ErrorClass<E>,
  part = "",
): Promise<E> {
  let thrown: unknown;
  try {
    await act();
  } catch (error) {
    thrown = error;
  }
  return checkThrown(thrown, ErrorType, part);
}

export function fail(message = "this line must not be reached"): never {
  throw new AssertionError({ message });
}

function checkThrown<E extends Error>(thrown: unknown, ErrorType: ErrorClass<E>, part: string): E {
  if (thrown === undefined) fail(`expected ${ErrorType.name}, nothing was thrown`);
  assertInstanceOf(thrown, ErrorType, `expected ${ErrorType.name}, got ${String(thrown)}`);
  assertStringIncludes(thrown.message, part);
  return thrown;
}
