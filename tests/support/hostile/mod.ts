/** Shared parts of tests of attacks. An attacker's own script imports `attack.ts` instead. */
export { type Attacker, launchAttacker } from "./attacker.ts";
export { type HonestCall, meterHonestTenant, type Served } from "./honest_tenant.ts";
export { type MemoryWatch, residentBytes, watchMemory } from "../process_memory.ts";
export { besiege, type Siege, type SiegeOptions } from "./siege.ts";
