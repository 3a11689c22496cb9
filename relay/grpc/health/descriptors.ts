/**
 * The messages and calls of gRPC's health checking protocol (grpc/grpc-proto,
 * grpc/health/v1/health.proto), as far as it is served.
 */
import { create, createFileRegistry, type Message } from "@bufbuild/protobuf";
import type { GenMessage, GenService } from "@bufbuild/protobuf/codegenv2";
import {
  FieldDescriptorProto_Type as Type,
  FileDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";

export const Status = { UNKNOWN: 0, SERVING: 1, NOT_SERVING: 2, SERVICE_UNKNOWN: 3 } as const;
export type Status = (typeof Status)[keyof typeof Status];

const packageName = "grpc.health.v1";
const [request, response] = [
  `.${packageName}.HealthCheckRequest`,
  `.${packageName}.HealthCheckResponse`,
];
const registry = createFileRegistry(
  create(FileDescriptorProtoSchema, {
    name: "grpc/health/v1/health.proto",
    package: packageName,
    syntax: "proto3",
    messageType: [
      {
        name: "HealthCheckRequest",
        field: [{ name: "service", jsonName: "service", number: 1, type: Type.STRING }],
      },
      {
        name: "HealthCheckResponse",
        field: [
          {
            name: "status",
            jsonName: "status",
            number: 1,
            type: Type.ENUM,
            typeName: `${response}.ServingStatus`,
          },
        ],
        enumType: [{
          name: "ServingStatus",
          value: Object.entries(Status).map(([name, number]) => ({ name, number })),
        }],
      },
    ],
    service: [{
      name: "Health",
      method: [
        { name: "Check", inputType: request, outputType: response },
        { name: "Watch", inputType: request, outputType: response, serverStreaming: true },
      ],
    }],
  }),
  () => undefined,
);

interface HealthMethod<Kind extends string> {
  readonly methodKind: Kind;
  readonly input: GenMessage<Message<"grpc.health.v1.HealthCheckRequest"> & { service: string }>;
  readonly output: GenMessage<Message<"grpc.health.v1.HealthCheckResponse"> & { status: Status }>;
}
type HealthMethods = { check: HealthMethod<"unary">; watch: HealthMethod<"server_streaming"> };

// cast: put into the registry above
export const Health = registry.getService(`${packageName}.Health`) as unknown as GenService<
  HealthMethods
>;
