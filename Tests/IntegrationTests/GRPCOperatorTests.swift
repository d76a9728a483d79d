import Foundation
import JSON
import Listener
import TestSupport
import Testing

@testable import GRPCAPI

/// Operators by gRPC: the socket `grpcAdmin`, which serves what `admin` serves to whoever may open it.
@Suite(.endsHangs)
struct GRPCOperatorTests {
    @Test func `what operators do by gRPC is done, and recorded as theirs`() async throws {
        try await DaemonStage.with { stage in
            let daemon = try await stage.start()
            let operators = BoundAddress.unix(path: stage.socket("grpc-admin"))
            let secret = try await GRPCProbe.with(operators, token: nil) { grpc in
                let added = try await grpc.answered(
                    "AddCaller", #"{"name":"shop","scopes":{"coins":["refunds:read"]}}"#,
                    ["purser-operator": "olga", "authorization": "Bearer of nothing"])
                #expect(added.code == "OK" && added.metadata["http-status"] == "201", "\(added)")
                let again = try await grpc.answered("AddCaller", #"{"name":"shop","scopes":{}}"#)
                #expect(again.code == "FAILED_PRECONDITION", "\(again)")
                #expect(again.problem?["reason"] == "CALLER_CONFLICT")
                #expect(try await grpc.answered("ListCallers", "{}", ["purser-operator": "no such name"]).code != "OK")
                return try #require(added.answer?["token"]?["token"]?.string)
            }
            try await GRPCProbe.with(.unix(path: stage.socket("grpc")), token: secret) { grpc in
                let apps = try await grpc.answered("ListApps", "{}")
                #expect(apps.code == "OK", "\(apps.message)")
            }
            let place = ["--address", "unix:\(stage.socket("grpc-admin"))"]
            let callers = try await DaemonStage.program(["call", "ListCallers"] + place)
            #expect(callers.status == 0 && callers.output.contains(#""shop""#), "\(callers.errorOutput)")
            let audit = try await stage.command("audit", "export", "--action", "callerAdded")
            let records = try audit.output.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
            #expect(records.count == 1 && records.first?["actor"]?.string == "operator:\(geteuid())", "\(audit)")
            #expect(audit.output.contains("olga") && !audit.output.contains(secret))
            #expect(try await daemon.terminate() == 0)
        }
    }

    @Test func `operators may ask what there is to call, and find nothing of internal services alone`() async throws {
        var options = DaemonFixture.Options()
        options.hasDoors = true
        try await DaemonFixture.with(options) { fixture in
            try await GRPCProbe.with(.unix(path: fixture.grpcAdminSocket), token: nil) { grpc in
                let foreign = try ProtoContract.current().methods.filter { !$0.route.listeners.contains("admin") }
                #expect(!foreign.isEmpty)
                for method in foreign.prefix(3) {
                    #expect(try await grpc.send(method.path, []).code == "UNIMPLEMENTED", "\(method.path)")
                }
                let health = try await grpc.call("GetHealth", "{}")
                #expect(health.code == "OK", "\(health.message)")
                // A request for the list of services (field 7), which is an empty text.
                let services = try await grpc.send(
                    "grpc.reflection.v1.ServerReflection/ServerReflectionInfo", [0x3a, 0])
                let text = services.answers.map { String(decoding: $0, as: UTF8.self) }.joined()
                #expect(services.code == "OK" && text.contains("purser.v1.CallersService"), "\(text)")
                #expect(text.contains("grpc.health.v1.Health") && !text.contains("purser.v1.SignaturesService"))
            }
            // What is told apart by its socket: the internal services' one still has no such method.
            try await GRPCProbe.with(fixture.grpc) { grpc in
                let callers = try await grpc.send("purser.v1.CallersService/ListCallers", [])
                #expect(callers.code == "UNIMPLEMENTED")
            }
        }
    }
}
