import AppStoreAPI
import AppStoreSimulator
import Foundation
import JSON
import Listener
import ServiceLifecycle
import TestSupport
import Testing

@testable import GRPCAPI

/// The face in gRPC of a daemon, over real sockets, beside its face in REST.
@Suite(.endsHangs)
struct GRPCTests {
    @Test func `a call is answered as the route is, and leaves the same traces`() async throws {
        try await DaemonFixture.with { fixture in
            try await GRPCProbe.with(fixture.grpc) { grpc in
                let apps = try await grpc.call("ListApps", "{}", ["x-request-id": "mine-1"])
                #expect(apps.code == "OK" && apps.requestID == "mine-1")
                #expect(apps.answer?["apps"]?[0]?["app"] == "coins" || apps.answer?["apps"]?[0]?["slug"] == "coins")
                let account = try fixture.simulator.state.createAccount(in: .sandbox).id
                let transaction = try #require(try fixture.buy(account).transactionId)
                let link = try await grpc.call(
                    "DeclareLink",
                    #"{"app":"coins","user":"bob","kind":"transactionId","value":"\#(transaction)"}"#)
                #expect(link.code == "OK" && link.metadata["http-status"] == "201")
                let rest = try await fixture.send("GET", "/v1/apps/coins/users/bob/links").json
                #expect(rest["links"]?[0]?["value"]?.string == transaction)
                let found = try await grpc.call("GetTransaction", #"{"app":"coins","transactionId":"\#(transaction)"}"#)
                #expect(found.answer?["transaction"]?["transactionId"]?.string == transaction)
                #expect(found.answer?["environment"] == "Sandbox" && found.answer?["verified"] == true)
            }
            let metrics = String(
                decoding: try await fixture.send("GET", fixture.health + "/metrics").body, as: UTF8.self)
            #expect(
                metrics.contains(
                    #"purser_http_requests_total{listener="grpc",method="GET",route="/v1/apps",status="200"} 1"#))
        }
    }

    @Test func `a failure has the code, the reason and the violations of the problem`() async throws {
        try await DaemonFixture.with { fixture in
            try await GRPCProbe.with(fixture.grpc) { grpc in
                let broken = try await grpc.call(
                    "SendUserConsumption",
                    #"{"app":"coins","user":"bob","consumption":{"transactionId":"1","customerConsented":false,"consumptionPercentage":200000}}"#
                )
                #expect(broken.code == "INVALID_ARGUMENT")
                let rest = try await fixture.send(
                    "POST", "/v1/apps/coins/users/bob/consumption",
                    body: #"{"transactionId":"1","customerConsented":false,"consumptionPercentage":200000}"#
                ).json
                let problem = try #require(broken.problem)
                #expect(problem["reason"] == rest["reason"] && problem["detail"] == rest["detail"])
                #expect(
                    problem["violations"]?.array?.map { $0["field"] } == rest["violations"]?.array?.map { $0["field"] })
                #expect(problem["requestId"]?.string == broken.requestID && broken.requestID != nil)
                let missing = try await grpc.call("GetCase", #"{"app":"coins","caseId":"0"}"#)
                #expect(missing.code == "NOT_FOUND" || missing.code == "INVALID_ARGUMENT")
                let app = try await grpc.call("ListCases", #"{"app":"nothing"}"#)
                #expect(app.code == "NOT_FOUND")
                let method = try await grpc.send("purser.v1.CasesService/Nothing", [])
                #expect(method.code == "UNIMPLEMENTED" && method.message.contains("purser.v1.CasesService/Nothing"))
                let operators = try await grpc.send("purser.v1.CallersService/ListCallers", [])
                #expect(operators.code == "UNIMPLEMENTED")
            }
        }
    }

    @Test func `nobody is served without a credential, and nobody learns first what is wrong with a message`()
        async throws
    {
        try await DaemonFixture.with { fixture in
            for token in [nil, "prs_wrong"] {
                try await GRPCProbe.with(fixture.grpc, token: token) { grpc in
                    let codes = [
                        try await grpc.call("ListApps", "{}").code,
                        try await grpc.send("purser.v1.AppsService/ListApps", [0xff]).code,
                        try await grpc.call("WatchEvents", #"{"app":"coins"}"#).code,
                        // A field that no one knows, text that is not UTF-8, a key that no header field can have.
                        try await grpc.send("purser.v1.CasesService/ListCases", [0xf8, 6, 1]).code,
                        try await grpc.send("purser.v1.CasesService/ListCases", [0x0a, 1, 0xff]).code,
                        try await grpc.call(
                            "SendUserConsumption", #"{"app":"coins","user":"u","Idempotency-Key":"é"}"#
                        ).code,
                    ]
                    #expect(Set(codes) == ["UNAUTHENTICATED"])
                }
            }
            try await GRPCProbe.with(fixture.grpc) { grpc in
                let malformed = try await grpc.send("purser.v1.AppsService/ListApps", [0xff])
                #expect(malformed.code == "INVALID_ARGUMENT")
                // What tells calls apart in here nobody else can say.
                let posing = try await grpc.call("ListApps", "{}", ["purser-call": "1", "Purser-Call": "2"])
                #expect(posing.code == "OK")
                // A field of a later version, which must not be passed over.
                let unknown = try await grpc.send("purser.v1.AppsService/ListApps", [0xf8, 6, 1])
                #expect(unknown.code == "INVALID_ARGUMENT")
            }
        }
    }

    @Test func `a message may be as long as the listener takes, and no longer`() async throws {
        var options = DaemonFixture.Options()
        options.grpcMessageBytes = 4096
        try await DaemonFixture.with(options) { fixture in
            try await GRPCProbe.with(fixture.grpc) { grpc in
                func verify(_ count: Int) async throws -> String {
                    let signed = String(repeating: "x", count: count)
                    return try await grpc.call(
                        "VerifySignedData",
                        #"{"app":"coins","signedData":[{"kind":"transaction","signed":"\#(signed)"}]}"#
                    ).code
                }
                // The connection goes on.
                for (count, code) in [
                    (3000, "OK"), (5000, "RESOURCE_EXHAUSTED"), (500_000, "RESOURCE_EXHAUSTED"), (3000, "OK"),
                ] {
                    let verified = try await verify(count)
                    #expect(verified == code, "\(count)")
                }
            }
        }
    }

    @Test func `events are streamed as they happen, from where a client was`() async throws {
        try await DaemonFixture.with { fixture in
            try await GRPCProbe.with(fixture.grpc) { grpc in
                let account = try fixture.simulator.state.createAccount(in: .sandbox).id
                let transaction = try #require(try fixture.buy(account).transactionId)
                let cursor = try #require(
                    try await fixture.send("GET", "/v1/apps/coins/events").json["cursor"]?.string)
                let consumption =
                    #"{"app":"coins","user":"bob","consumption":{"transactionId":"\#(transaction)","customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false}}"#
                let first = try await Self.watch(grpc, after: cursor, until: 2) {
                    let sent = try await grpc.call("SendUserConsumption", consumption)
                    #expect(sent.code == "OK", "\(sent.message)")
                }
                #expect(first.map { $0["type"] } == ["purser.delivery.queued", "purser.delivery.accepted"])
                #expect(first[0]["data"]?["transactionId"]?.string == transaction)
                let id = try #require(first[0]["id"]?.string)
                let again = try await Self.watch(grpc, after: id, until: 1) {}
                #expect(again.map { $0["id"] } == [first[1]["id"]])
            }
        }
    }

    /// The first events of a stream, which is then broken off.
    private static func watch(
        _ grpc: GRPCProbe, after cursor: String, until count: Int, _ body: () async throws -> Void
    ) async throws -> [JSONValue] {
        let (events, continuation) = AsyncStream.makeStream(of: JSONValue.self)
        let watch = Task {
            try await grpc.call("WatchEvents", #"{"app":"coins","after":"\#(cursor)"}"#) { event in
                continuation.yield(event)
            }
        }
        try await body()
        var seen: [JSONValue] = []
        for await event in events {
            seen.append(event)
            if seen.count == count { break }
        }
        watch.cancel()
        _ = try? await watch.value
        return seen
    }

    @Test func `streams end when the daemon does, with a word`() async throws {
        try await DaemonFixture.with { fixture in
            try await GRPCProbe.with(fixture.grpc) { grpc in
                let began = AsyncStream.makeStream(of: Void.self)
                let watch = Task { try await grpc.call("WatchEvents", #"{"app":"coins"}"#) }
                let health = Task {
                    try await grpc.client.call("grpc.health.v1.Health/Watch", []) { _ in began.continuation.finish() }
                }
                for await _ in began.stream {}
                await fixture.group.triggerGracefulShutdown()
                let codes = [try await watch.value.code, try await health.value.code]
                #expect(codes == ["UNAVAILABLE", "UNAVAILABLE"])
            }
        }
    }

    @Test func `health is that of the probes, for each service`() async throws {
        try await DaemonFixture.with { fixture in
            try await GRPCProbe.with(fixture.grpc, token: nil) { grpc in
                for service in ["", "purser.v1.CasesService", "grpc.health.v1.Health"] {
                    var message = WireWriter()
                    message.field(1, text: service)
                    let reply = try await grpc.send("grpc.health.v1.Health/Check", message.bytes)
                    #expect(reply.code == "OK" && reply.answers == [[8, 1]], "\(service)")
                }
                var message = WireWriter()
                message.field(1, text: "purser.v1.Nothing")
                #expect(try await grpc.send("grpc.health.v1.Health/Check", message.bytes).code == "NOT_FOUND")
            }
        }
    }

    @Test func `reflection tells services, files and extensions`() async throws {
        try await DaemonFixture.with { fixture in
            try await GRPCProbe.with(fixture.grpc, token: nil) { grpc in
                func ask(_ number: Int, _ text: String) async throws -> String {
                    var message = WireWriter()
                    message.field(number, text: text)
                    let reply = try await grpc.send(
                        "grpc.reflection.v1.ServerReflection/ServerReflectionInfo", message.bytes)
                    #expect(reply.code == "OK")
                    return String(decoding: reply.answers.first ?? [], as: UTF8.self)
                }
                let services = try await ask(7, "")
                #expect(services.contains("purser.v1.CasesService") && services.contains("grpc.health.v1.Health"))
                #expect(!services.contains("purser.v1.CallersService"), "operators' methods are not served here")
                #expect(try await ask(4, "purser.v1.CasesService").contains("purser/v1/cases.proto"))
                #expect(
                    try await ask(4, "purser.v1.CasesService.ListCases").contains("google/protobuf/descriptor.proto"))
                #expect(try await ask(3, "google/rpc/error_details.proto").contains("google.rpc"))
                #expect(try await ask(4, "no.such.Thing").contains("nothing of that name"))
                #expect(try await ask(6, "google.protobuf.MethodOptions").contains("google.protobuf.MethodOptions"))
            }
        }
    }
}
