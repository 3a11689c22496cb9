/**
 * Shared parts of the tests of every package: conditional tests, seeded randomness, third-party
 * vectors.
 */
export { type Requirement, testWhen } from "./requirement.ts";
export {
  createKeyPackage,
  createPrivateMessage,
  createWelcome,
  type KeyPackageOptions,
  mlsUint,
  mlsVector,
  type PrivateMessageOptions,
} from "./mls.ts";
export { createRandom, type Random, seedFromEnvironment } from "./random.ts";
export { sampleBody } from "./sample.ts";
export { signedCommit } from "./signed_commit.ts";
export { readVectors, vectors } from "./vectors.ts";
export { freePort, freePorts } from "./ports.ts";
export { oncePerRun } from "./once_per_run.ts";
export {
  openSharedDatabase,
  postgresInstalled,
  startPostgres,
  type TestPostgres,
} from "./postgres.ts";
export {
  type NatsAccess,
  natsInstalled,
  type NatsOptions,
  natsProgram,
  startNats,
  type TestNats,
} from "./nats.ts";
export { createCertificate, type TestCertificate } from "./certificate.ts";
export { installed, runCommand } from "./command.ts";
export { SimulatedClock } from "./simulated_clock.ts";
export { eventually } from "./eventually.ts";
