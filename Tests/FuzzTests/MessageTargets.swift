import Foundation
import JSON

@testable import GRPCAPI

/// What callers send by gRPC: messages in the wire format, each behind a line with the name of its type.
let messageTargets = [
    FuzzTarget(name: "grpc-message") { bytes in
        let contract = try messageContract.get()
        let parts = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let type = contract.message(named: String(decoding: parts[0], as: UTF8.self)) else {
            return
        }
        // A time or a list by itself is no object of JSON, which is what a route takes and answers.
        let message = contract.messages[type]
        guard message.wellKnown == nil, !message.isList, !message.isMapEntry else { return }
        guard let (first, isWhole) = try json(of: Array(parts[1]), type, contract) else { return }
        let members = try JSONScanner.members(of: first)
        guard isWhole else { return }
        var writer = MessageWriter(contract)
        let written = writer.bytes(of: members, as: type)
        // A number that no value of an enumeration has is a text that none has: the route says so.
        guard writer.lost.isEmpty else { return }
        guard let (second, isWholeAgain) = try json(of: written, type, contract) else {
            throw FuzzFinding(description: "a \(message.fullName) is written in no wire format")
        }
        try hold(isWholeAgain, "a \(message.fullName) is written with faults")
        var rewriter = MessageWriter(contract)
        let again = rewriter.bytes(of: try JSONScanner.members(of: second), as: type)
        try hold(written == again, "a \(message.fullName) is written otherwise the second time")
    },
    FuzzTarget(name: "grpc-timestamp") { bytes in
        guard let text = bytes.text, let (seconds, nanoseconds) = TimestampText.parse(text) else { return }
        let written =
            try TimestampText.text(seconds: seconds, nanoseconds: nanoseconds)
            ?? { throw FuzzFinding(description: "\(text) is a time that has no text") }()
        let again = TimestampText.parse(written)
        try hold(
            again?.seconds == seconds && again?.nanoseconds == nanoseconds, "\(text) is another time as \(written)")
    },
]

/// The contract of this build.
private let messageContract = Result { try ProtoContract.current() }

/// The JSON that a message stands for, and whether nothing of it is wrong; nil when the bytes are no message.
private func json(of bytes: [UInt8], _ type: Int, _ contract: ProtoContract) throws -> (json: [UInt8], isWhole: Bool)? {
    var reader = MessageReader(contract)
    guard let parsed = reader.parse(bytes, type) else {
        try hold(!reader.faults.isEmpty, "a message is refused without a fault")
        return nil
    }
    var writer = JSONWriter(capacity: bytes.count * 2)
    reader.write(parsed, type, to: &writer)
    return (writer.takeBytes(), reader.faults.isEmpty)
}
