import Foundation
import JSON
import Testing

@testable import GRPCAPI

/// The contract of this build, and messages of it in JSON.
enum ContractFixture {
    static let contract = Result { () throws(ProtoContract.Unreadable) in try ProtoContract.current() }

    static var root: URL {
        var url = URL(filePath: #filePath)
        for _ in 0..<3 { url.deleteLastPathComponent() }
        return url
    }

    static func method(_ name: String) throws -> ProtoMethod {
        try #require(try contract.get().methods.first { $0.name == name }, "no method \(name)")
    }

    /// The bytes of a message, of JSON.
    static func bytes(_ json: String, as message: String) throws -> [UInt8] {
        let contract = try contract.get()
        let place = try #require(contract.message(named: "purser.v1.\(message)"), "no message \(message)")
        var writer = MessageWriter(contract)
        return writer.bytes(of: try JSONScanner.members(of: Array(json.utf8)), as: place)
    }

    /// The JSON of a message, and what was wrong with it.
    static func json(_ bytes: [UInt8], as message: String) throws -> (json: String, faults: [MessageReader.Fault]) {
        let contract = try contract.get()
        let place = try #require(contract.message(named: "purser.v1.\(message)"), "no message \(message)")
        var reader = MessageReader(contract)
        var writer = JSONWriter()
        if let parsed = reader.parse(bytes, place) { reader.write(parsed, place, to: &writer) }
        return (String(decoding: writer.takeBytes(), as: UTF8.self), reader.faults)
    }

    /// A message there and back again.
    static func roundTrip(_ json: String, as message: String) throws -> String {
        let (back, faults) = try Self.json(try bytes(json, as: message), as: message)
        #expect(faults == [])
        return back
    }

    /// Bytes in hexadecimal, as tables of golden bytes write them.
    static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
