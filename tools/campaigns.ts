/**
 * Long proofs that are not part of the test command: each is run by name, every night, and before a
 * release. A file `x_campaign.ts` is for campaigns alone. A file `x_test.ts` is part of the test
 * command too, in a shorter form.
 */

export interface Campaign {
  readonly name: string;
  /** The guarantee, in a line. */
  readonly what: string;
  /** Files, and folders with their `_test.ts` and `_campaign.ts`. */
  readonly paths: readonly string[];
}

export const campaigns: readonly Campaign[] = [
  {
    name: "fuzz",
    what: "decoders, ciphers and frames bear any bytes",
    paths: [
      "proto/fuzz_test.ts",
      "sdk/mls/fuzz_test.ts",
      "sdk/session/hostile_relay_test.ts",
      "server/http2/fuzz_test.ts",
      "server/http2/proxy_header_test.ts",
      "tests/relay/garbage_test.ts",
      "wasm/ed25519_batch_test.ts",
      "wasm/random_test.ts",
    ],
  },
  {
    name: "simulation",
    what: "schedules of honest agents under attack: nobody is blocked, misled or spoken for",
    paths: [
      "tests/scenario/rejoin/copied_directory_test.ts",
      "tests/scenario/rejoin/disturbed_connect_test.ts",
      "tests/scenario/rejoin/honest_stores_test.ts",
      "tests/scenario/simulation/simulation_test.ts",
    ],
  },
  {
    name: "small-worlds",
    what:
      "every order of events around a channel's connection, log, commits, stops, ways back, leaving, messages, order, duties, confirmations, and an agent's names and keys: nobody is stuck",
    paths: [
      "tests/small_worlds/balance_of_relays_test.ts",
      "tests/small_worlds/commit_controls_test.ts",
      "tests/small_worlds/crossing_commits_test.ts",
      "tests/small_worlds/doors_of_letters_test.ts",
      "tests/small_worlds/duties_of_members_test.ts",
      "tests/small_worlds/key_packages_of_agent_test.ts",
      "tests/small_worlds/leaving_member_test.ts",
      "tests/small_worlds/long_lives_test.ts",
      "tests/small_worlds/told_receipts_test.ts",
      "tests/small_worlds/lying_relay_test.ts",
      "tests/small_worlds/member_in_step_test.ts",
      "tests/small_worlds/names_of_agent_test.ts",
      "tests/small_worlds/read_messages_test.ts",
      "tests/small_worlds/reading_member_test.ts",
      "tests/small_worlds/restored_owner_test.ts",
      "tests/small_worlds/root_of_letters_test.ts",
      "tests/small_worlds/sealed_of_letters_test.ts",
      "tests/small_worlds/seen_logs_test.ts",
      "tests/small_worlds/sent_messages_test.ts",
      "tests/small_worlds/set_back_stop_test.ts",
      "tests/small_worlds/told_leaves_test.ts",
      "tests/small_worlds/two_founders_test.ts",
      "tests/small_worlds/two_readers_test.ts",
      "tests/small_worlds/waiting_claims_test.ts",
      "tests/small_worlds/set_back_log_test.ts",
    ],
  },
  {
    name: "groups",
    what:
      "large channels, races of commits and thefts of state at full length; members that run OpenMLS",
    paths: [
      "sdk/channel/stolen_state_test.ts",
      "sdk/mls/channel_rules_test.ts",
      "sdk/mls/group_test.ts",
      "sdk/mls/interop_test.ts",
      "sdk/mls/later_attacker_test.ts",
      "sdk/mls/open_mls_campaign.ts",
      "tests/scenario/delivery/conversations_test.ts",
      "tests/scenario/recovery/large_channel_recovery_test.ts",
      "tests/scenario/commits/races_test.ts",
      "tests/scenario/recovery/killed_while_recovering_test.ts",
      "tests/scenario/rejoin/rejoin_by_statement_test.ts",
      "tests/scenario/recovery/invented_agents_test.ts",
    ],
  },
  {
    name: "relay-model",
    what:
      "the relay's core, leases, replicas and places against models of them, and the contract of engines at full length",
    paths: [
      "relay/cluster/begin_test.ts",
      "relay/cluster/replica/fold_properties_test.ts",
      "relay/cluster/jetstream_test.ts",
      "relay/cluster/memory/memory_test.ts",
      "relay/cluster/replica/replica_test.ts",
      "relay/cluster/silence/silence_test.ts",
      "relay/core/session/elsewhere_test.ts",
      "relay/core/simulation_test.ts",
      "relay/engine/sqlite_test.ts",
      "relay/quota/leased_quota_test.ts",
      "server/limits/fair_world_test.ts",
    ],
  },
  {
    name: "relay-processes",
    what:
      "every operation over every transport, accounts that are suspended, a stop within five seconds, an office behind nginx",
    paths: [
      "tests/relay/accounts_test.ts",
      "tests/relay/metering_test.ts",
      "tests/relay/office_campaign.ts",
      "tests/relay/operations_campaign.ts",
      "tests/relay/operations_test.ts",
    ],
  },
  {
    name: "cluster",
    what:
      "several relays and NATS nodes under kills, cuts and full disks: no accepted message is lost",
    paths: [
      "relay/cluster/nodes/node_transport_test.ts",
      "relay/cluster/nodes/nodes_test.ts",
      "tests/docs/cluster_page_campaign.ts",
      "tests/faults/rolling_restart_campaign.ts",
      "tests/project/start_relays_campaign.ts",
      "tests/relay/cluster_faults_test.ts",
      "tests/relay/cluster_operations_test.ts",
      "tests/relay/cluster_partition_campaign.ts",
      "tests/relay/cluster_process_test.ts",
      "tests/relay/cluster_silence_test.ts",
      "tests/relay/cluster_tls_test.ts",
    ],
  },
  {
    name: "kills",
    what: "kill -9 at every step: nothing is lost, doubled or used twice",
    paths: [
      "sdk/platform/directory_store_test.ts",
      "tests/faults/receipt_kill_test.ts",
      "tests/formats/format_change_test.ts",
      "tests/project/start_test.ts",
      "tests/relay/engine_kill_test.ts",
      "tests/relay/exchange_test.ts",
      "tests/sdk/request_crash_test.ts",
    ],
  },
  {
    name: "forgetting",
    what:
      "copies of directories under load, in Deno and Node: nothing that was read a minute before opens",
    paths: [
      "sdk/store/forgetting_schedule_test.ts",
      "tests/faults/period_kill_test.ts",
      "tests/sdk/forgotten_messages_campaign.ts",
    ],
  },
  {
    name: "faults",
    what:
      "agents and relays through crashes, cut networks, full disks and jumping clocks, with an audit of every message",
    paths: ["sdk/host/server/socket_host_test.ts", "tests/faults"],
  },
  {
    name: "sieges",
    what: "an honest tenant is served beside every attack",
    paths: ["relay/listeners/quic_test.ts", "tests/hostile"],
  },
  {
    name: "traffic",
    what: "statistics on real packets: what an observer can tell",
    paths: ["tests/sdk/wire_test.ts", "tests/traffic"],
  },
  {
    name: "http2",
    what: "foreign HTTP/2 clients, load and hostile peers",
    paths: ["tests/http2"],
  },
  {
    name: "api",
    what: "the API's contract on both databases, its model, durability and audit at full length",
    paths: [
      "api/store/embedded_test.ts",
      "tests/api/audit_test.ts",
      "tests/api/contract_test.ts",
      "tests/api/durability_test.ts",
      "tests/api/fault_test.ts",
      "tests/api/model_test.ts",
      "tests/api/timing_campaign.ts",
    ],
  },
  {
    name: "cli",
    what: "the commands, and the program in pipes under every runtime",
    paths: ["tests/cli/commands_test.ts"],
  },
  {
    name: "console",
    what: "the console in a real browser at full length",
    paths: ["tests/console"],
  },
  {
    name: "wake",
    what:
      "idle sessions of the real Claude Code and Codex, and the examples' models, with a stub in the model's place, get a turn for each message, and 10,000 messages few",
    paths: [
      "tests/mcp/frameworks_campaign.ts",
      "tests/mcp/harnesses_campaign.ts",
      "tests/mcp/wake_test.ts",
    ],
  },
  { name: "python", what: "the Python package at full length", paths: ["tests/python"] },
  {
    name: "packages",
    what: "packages as users install them, every runtime in one channel and over every transport",
    paths: [
      "tests/docs/examples_campaign.ts",
      "tests/docs/samples_campaign.ts",
      "tests/host",
      "tests/mcp/mcp_test.ts",
      "tests/runtime",
      "tests/sdk/fleet_test.ts",
      "tests/sdk/package_campaign.ts",
      "tests/sdk/proxy_test.ts",
      "tests/sdk/session_test.ts",
      "tests/story/story_test.ts",
    ],
  },
  {
    name: "pages",
    what:
      "every program of the pages twice in a row, images, alerts and reference pages at full length",
    paths: [
      "tests/docs/blocks_test.ts",
      "tests/docs/deploy_test.ts",
      "tests/docs/images_test.ts",
      "tests/docs/kubernetes_test.ts",
      "tests/docs/monitoring_test.ts",
      "tests/project/reference_pages_test.ts",
    ],
  },
  {
    name: "quiet-hour",
    what:
      "an hour of 500 agents behind nginx in a real Prometheus with the shipped rules, all relays restarted: no alert, no refusal",
    paths: ["tests/relay/healthy_hour_campaign.ts"],
  },
  {
    name: "upstream",
    what:
      "why code of our own exists, on the newest Deno too: a failure says which reason is gone and what to delete",
    paths: ["sdk/mls/ts_mls_campaign.ts", "tests/upstream"],
  },
];
