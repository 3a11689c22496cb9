/** Long campaigns, run by hand and reported in notes: the same tests as the default run with `STATIC_STRESS=1`, at full length. */

const campaigns = [
  "proto/fuzz_test.ts",
  "relay/core/simulation_test.ts",
  "relay/quota/leased_quota_test.ts",
  "sdk/mls/fuzz_test.ts",
  "sdk/mls/group_test.ts",
  "sdk/platform/directory_store_test.ts",
  "sdk/session/hostile_relay_test.ts",
  "server/http2/fuzz_test.ts",
  "tests/api/audit_test.ts",
  "tests/api/durability_test.ts",
  "tests/api/model_test.ts",
  "tests/api/openapi_test.ts",
  "tests/console/",
  "tests/docs/monitoring_test.ts",
  "tests/faults/faults_test.ts",
  "tests/faults/memory_test.ts",
  "tests/faults/several_relays_test.ts",
  "tests/faults/store_kill_test.ts",
  "tests/host/many_programs_test.ts",
  "tests/hostile/",
  "tests/http2/hostile_test.ts",
  "tests/http2/load_test.ts",
  "tests/python/",
  "tests/relay/cluster_faults_test.ts",
  "tests/relay/engine_kill_test.ts",
  "tests/relay/garbage_test.ts",
  "tests/scenario/large_recovery_test.ts",
  "tests/scenario/races_test.ts",
  "tests/scenario/simulation_test.ts",
  "tests/sdk/package_test.ts",
  "tests/story/story_test.ts",
  "tests/traffic/traffic_test.ts",
  "wasm/ed25519_batch_test.ts",
  "wasm/random_test.ts",
];

const child = new Deno.Command(Deno.execPath(), {
  args: ["test", "-A", "--no-check", ...(Deno.args.length > 0 ? Deno.args : campaigns)],
  env: { STATIC_STRESS: "1" },
}).spawn();
Deno.exit((await child.status).code);
