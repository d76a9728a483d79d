import GRPCCore
import JSON
import Testing

@testable import GRPCAPI

/// What becomes of problems.
struct CallStatusTests {
    private func status(_ status: Int, _ body: String) throws -> CallStatus {
        CallStatusWriter(try ContractFixture.contract.get()).status(
            of: RouteAnswer(status: status, headers: [], body: Array(body.utf8)))
    }

    /// The details by type, each as it is on the wire.
    private func details(_ status: CallStatus) throws -> [String: [UInt8]] {
        var details: [String: [UInt8]] = [:]
        let bytes = try #require(status.details)
        var reader = WireReader(bytes)
        while let (number, value) = try reader.next() {
            guard number == 3, case .bytes(let range) = value else { continue }
            var inner = WireReader(bytes, in: range)
            var (type, content) = ("", [UInt8]())
            while let (number, value) = try inner.next() {
                guard case .bytes(let range) = value else { continue }
                if number == 1 {
                    type = String(decoding: bytes[range], as: UTF8.self)
                } else {
                    content = Array(bytes[range])
                }
            }
            details[type.replacing("type.googleapis.com/", with: "")] = content
        }
        return details
    }

    private static let problem = #"""
        {"type":"urn:purser:error:invalid-request","title":"The request breaks a rule","status":400,
         "detail":"Two rules are broken.","code":"INVALID_ARGUMENT","reason":"INVALID_REQUEST","requestId":"r-1",
         "violations":[
          {"field":"consumptionPercentage","rule":"range","message":"Too much.",
           "appleErrorName":"ConsumptionPercentageOutOfRangeError","appleErrorCode":null},
          {"field":"user","rule":"length","message":"Too long."}],
         "apple":{"httpStatus":400,"errorCode":4000006,"errorName":null,"environment":"Sandbox","endpoint":"x"}}
        """#

    @Test func `code, text, reason and violations are those of the problem`() throws {
        let status = try status(400, Self.problem)
        #expect(status.code == .invalidArgument && status.message == "Two rules are broken.")
        let details = try details(status)
        #expect(
            Set(details.keys) == [
                "google.rpc.ErrorInfo", "google.rpc.BadRequest", "google.rpc.RequestInfo", "purser.v1.Problem",
            ])
        let badRequest = String(decoding: try #require(details["google.rpc.BadRequest"]), as: UTF8.self)
        for text in ["consumptionPercentage", "Too much.", "CONSUMPTION_PERCENTAGE_OUT_OF_RANGE_ERROR", "LENGTH"] {
            #expect(badRequest.contains(text), "\(text)")
        }
        let info = String(decoding: try #require(details["google.rpc.ErrorInfo"]), as: UTF8.self)
        for text in ["INVALID_REQUEST", "purser", "appleErrorCode", "4000006", "appleEnvironment", "Sandbox"] {
            #expect(info.contains(text), "\(text)")
        }
        let whole = try ContractFixture.json(try #require(details["purser.v1.Problem"]), as: "Problem")
        let problem = try JSONValue(parsing: whole.json)
        #expect(problem["reason"] == "INVALID_REQUEST" && problem["apple"]?["errorCode"] == 4_000_006)
        #expect(whole.faults == [])
    }

    @Test func `when to come back is told`() throws {
        let status = try status(
            503, #"{"code":"UNAVAILABLE","reason":"OVERLOADED","detail":"Later.","retryAfter":7,"requestId":"r"}"#)
        #expect(status.code == .unavailable)
        #expect(try details(status)["google.rpc.RetryInfo"] == [0x0a, 2, 0x08, 7])
    }

    @Test func `details stay within what clients take`() throws {
        let violations = (0..<500).map {
            #"{"field":"f\#($0)","rule":"enum","message":"\#(String(repeating: "x", count: 60))"}"#
        }
        let status = try status(
            400,
            #"{"code":"INVALID_ARGUMENT","reason":"INVALID_REQUEST","detail":"Many.","requestId":"r","violations":[\#(violations.joined(separator: ","))]}"#
        )
        let details = try details(status)
        #expect(try #require(status.details).count < 6000)
        #expect(details["purser.v1.Problem"] == nil && details["google.rpc.BadRequest"] != nil)
    }

    @Test(arguments: [
        "INVALID_ARGUMENT", "NOT_FOUND", "PERMISSION_DENIED", "UNAUTHENTICATED", "FAILED_PRECONDITION", "OUT_OF_RANGE",
        "RESOURCE_EXHAUSTED", "UNAVAILABLE", "DEADLINE_EXCEEDED", "UNIMPLEMENTED", "INTERNAL",
    ])
    func `every code of the REST face is one of gRPC's`(name: String) {
        let code = Status.Code(name: name)
        #expect(code != .unknown && Status.Code.name(of: code.rawValue) == name)
    }

    @Test func `an answer that is no problem has the code of its status`() throws {
        #expect(try status(404, "").code == .notFound)
        #expect(try status(503, "gone").code == .unavailable)
        #expect(try status(418, "{}").code == .unknown)
    }
}
