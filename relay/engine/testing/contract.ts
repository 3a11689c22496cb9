/**
 * How a part of the contract of engines states its guarantees; `test_engine.ts` puts the parts
 * together.
 */
import type { Engine } from "../engine.ts";

/** Registers a test whose function gets a fresh engine. */
export type ContractTest = (guarantee: string, run: (engine: Engine) => Promise<void>) => void;
