import GRPCCore
import JSON
import TestSupport
import Testing

@testable import GRPCAPI

/// Messages whose text would cost the square of its length, were it hashed or compared as a `String`.
@Suite(.endsHangs) struct HostileMessageTests {
    private static let size = 256 << 10

    @Test(arguments: HostileText.allCases) func `names and texts are transcoded byte for byte`(
        shape: HostileText
    ) throws {
        let text = shape.text(bytes: Self.size)
        let json = #"{"report":{"\#(text)":"\#(text)"}}"#
        let back = try JSONScanner.members(of: Array(try ContractFixture.roundTrip(json, as: "Delivery").utf8))
        let report = try #require(back["report"]?.object)
        #expect(report.keys == [UntrustedText(text)])
        #expect(report[0].value.string == UntrustedText(text))
    }

    @Test(arguments: HostileText.allCases) func `an app becomes a segment of the path`(shape: HostileText) throws {
        let contract = try ContractFixture.contract.get()
        let method = try ContractFixture.method("ListCases")
        let text = shape.text(bytes: Self.size)
        var writer = MessageWriter(contract)
        let message = writer.bytes(
            of: try JSONScanner.members(of: Array(#"{"app":"\#(text)"}"#.utf8)), as: method.input)
        let request = RouteRequestReader(contract).request(message, method, [:])
        #expect(request.target.hasPrefix("/v1/apps/%") || request.target.hasPrefix("/v1/apps/a%"))
        #expect(request.faults.isEmpty)
    }

    @Test(arguments: HostileText.allCases) func `a question about what there is to call is answered`(
        shape: HostileText
    ) throws {
        let calls = ReflectionCall<TestConnection>(try ContractFixture.contract.get(), services: ["purser.v1.Apps"])
        for number in [3, 4, 6] {
            var question = WireWriter()
            question.field(number, text: shape.text(bytes: 2 << 10))
            #expect(calls.answer(to: question.bytes) != nil)
            question.field(number, text: shape.text(bytes: Self.size))
            #expect(calls.answer(to: question.bytes) == nil, "longer than any question")
        }
    }

    /// A connection that nobody makes.
    private struct TestConnection: GRPCConnection {
        func callBegan() {}
        func callArrived(_ kind: GRPCCallKind) {}
        func callEnded(_ kind: GRPCCallKind?) {}
        func hold(bytes: Int) -> Bool { true }
        func taskExecutor(ofBodyBytes count: Int) -> any TaskExecutor { globalConcurrentExecutor }
    }
}
