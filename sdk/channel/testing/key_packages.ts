/** The KeyPackages of an agent, for worlds that drive them without a session. */
export { stepKeyPackages } from "../names/key_packages.ts";
export {
  type KeyPackageEffect,
  type KeyPackageEvent,
  type KeyPackageFacts,
  type KeyPackageState,
  type KnownKeyPackage,
  newKeyPackages,
} from "../names/key_package_state.ts";
