/**
 * The reflection protocol of gRPC: tools such as grpcurl ask it what the relay serves. It tells nothing that `relay.proto` does
 * not; an operator may still switch it off.
 */
import { type DescFile, type DescService, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import {
  ServerReflection,
  type ServerReflectionRequest,
  type ServerReflectionResponseSchema,
} from "./gen/reflection_pb.ts";

type Reply = MessageInitShape<typeof ServerReflectionResponseSchema>;
type Answer = Reply["messageResponse"];

/** Questions of one stream: a tool has a few, and each may be answered with kilobytes. */
const maxQuestions = 100;

export function addReflection(router: ConnectRouter, served: readonly DescService[]): void {
  const services = [...served, ServerReflection];
  const files = services.map(({ file }) => file);
  router.rpc(ServerReflection.method.serverReflectionInfo, async function* (requests): AsyncGenerator<Reply> {
    let left = maxQuestions;
    for await (const request of requests) {
      if (left-- === 0) throw new ConnectError(`At most ${maxQuestions} questions a stream`, Code.ResourceExhausted);
      const messageResponse = answer(request.messageRequest, { services, files });
      yield { validHost: request.host, originalRequest: request, messageResponse };
    }
  });
}

function answer(
  question: ServerReflectionRequest["messageRequest"],
  { services, files }: { services: readonly DescService[]; files: readonly DescFile[] },
): NonNullable<Answer> {
  switch (question.case) {
    case "listServices":
      return { case: "listServicesResponse", value: { service: services.map(({ typeName }) => ({ name: typeName })) } };
    case "fileByFilename":
      return fileAnswer(files.find(({ proto }) => proto.name === question.value));
    case "fileContainingSymbol":
      return fileAnswer(files.find((file) => declares(file, question.value)));
    case "allExtensionNumbersOfType":
      return { case: "allExtensionNumbersResponse", value: { baseTypeName: question.value, extensionNumber: [] } };
    default:
      return notFound("There are no extensions");
  }
}

/** These files import nothing, so that each is its own whole. */
function fileAnswer(file: DescFile | undefined): NonNullable<Answer> {
  if (file === undefined) return notFound("Nothing of this name is served");
  const fileDescriptorProto = [toBinary(FileDescriptorProtoSchema, file.proto)];
  return { case: "fileDescriptorResponse", value: { fileDescriptorProto } };
}

function notFound(errorMessage: string): NonNullable<Answer> {
  return { case: "errorResponse", value: { errorCode: Code.NotFound, errorMessage } };
}

/** A service, a method, a message or an enum, by its full name. */
function declares(file: DescFile, symbol: string): boolean {
  const methods = file.services.flatMap(({ typeName, methods }) => methods.map(({ name }) => `${typeName}.${name}`));
  const types = [...file.services, ...file.messages, ...file.enums].map(({ typeName }) => typeName);
  return [...types, ...methods].includes(symbol);
}
