import GRPCCore
import JSON
import NIOCore

/// The numbers of `ServerReflectionRequest` and `ServerReflectionResponse`.
private enum Reflection {
    enum Question {
        static let host = 1
        static let fileByName = 3
        static let fileContainingSymbol = 4
        static let fileContainingExtension = 5
        static let allExtensionNumbersOfType = 6
        static let listServices = 7
    }

    enum Answer {
        static let host = 1
        static let original = 2
        static let files = 4
        static let extensionNumbers = 5
        static let services = 6
        static let error = 7
    }
}

/// `grpc.reflection.v1.ServerReflection`: tells clients what there is to call, so that they need no files.
///
/// Source: reflection.proto of gRPC, version 1; the numbers are those of its messages.
struct ReflectionCall<Connection: GRPCConnection>: CallHandler {
    /// The longest question, in bytes.
    private static var maximumQuestionBytes: Int { 4096 }

    static var path: String { "grpc.reflection.v1.ServerReflection/ServerReflectionInfo" }

    private let files: [ProtoFile]
    private let places: [UntrustedText: Int]
    private let symbols: [UntrustedText: Int]
    private let services: [String]

    let type = MethodDescriptor.RPCType.bidirectionalStreaming

    init(_ contract: ProtoContract, services: Set<String>) {
        files = contract.files
        self.services = services.union(["grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection"]).sorted()
        places = Dictionary(files.enumerated().map { (UntrustedText($1.name), $0) }) { first, _ in first }
        var symbols: [UntrustedText: Int] = [:]
        for (place, file) in files.enumerated() {
            for symbol in file.symbols { symbols[UntrustedText(symbol)] = place }
        }
        self.symbols = symbols
    }

    func handle(
        _ messages: inout CallMessages, _ metadata: Metadata, _ call: OpenCall<Connection>,
        _ answers: CallAnswers<Connection>
    ) async throws {
        try await answers.begin()
        while let message = try await messages.next() {
            guard let answer = answer(to: message) else {
                return try await answers.end(
                    CallStatus(code: .invalidArgument, message: "The message is no ServerReflectionRequest."))
            }
            try await answers.send(answer)
        }
        try await answers.end(.ok)
    }

    /// The answer to one question; nil for a message that is none, or longer than one.
    func answer(to message: [UInt8]) -> [UInt8]? {
        guard message.count <= Self.maximumQuestionBytes else { return nil }
        var writer = WireWriter()
        writer.field(Reflection.Answer.original, bytes: message)
        var reader = WireReader(message)
        // The last of several, as of all fields of a `oneof`.
        var question: (number: Int, range: Range<Int>)?
        do {
            while let (number, value) = try reader.next() {
                guard case .bytes(let range) = value else { continue }
                if number == Reflection.Question.host {
                    writer.field(Reflection.Answer.host, bytes: message[range])
                } else {
                    question = (number, range)
                }
            }
            if let question { try answer(question.number, message, question.range, to: &writer) }
        } catch { return nil }
        return writer.bytes
    }

    private func answer(
        _ question: Int, _ message: [UInt8], _ range: Range<Int>, to writer: inout WireWriter
    ) throws(WireReader.Malformed) {
        let text = UntrustedText(decoding: message[range])
        switch question {
        case Reflection.Question.fileByName: tell(places[text], to: &writer)
        case Reflection.Question.fileContainingSymbol: tell(symbols[text], to: &writer)
        case Reflection.Question.fileContainingExtension: try tell(extension: message, range, to: &writer)
        case Reflection.Question.allExtensionNumbersOfType: tellExtensions(of: text, to: &writer)
        case Reflection.Question.listServices:
            writer.field(Reflection.Answer.services) { list in
                for service in services { list.field(1) { $0.field(1, text: service) } }
            }
        default: break
        }
    }

    /// A file with all that it imports, each once.
    private func tell(_ place: Int?, to writer: inout WireWriter) {
        guard let place else { return tellNothing(to: &writer) }
        var told: Set<Int> = []
        var waiting = [place]
        writer.field(Reflection.Answer.files) { writer in
            while let place = waiting.popLast() {
                guard told.insert(place).inserted else { continue }
                writer.field(1, bytes: files[place].bytes)
                waiting += files[place].imports.compactMap { places[UntrustedText($0)] }
            }
        }
    }

    private func tell(extension message: [UInt8], _ range: Range<Int>, to writer: inout WireWriter)
        throws(WireReader.Malformed)
    {
        var reader = WireReader(message, in: range)
        var (type, number): (UntrustedText, Int) = ("", 0)
        while let (field, value) = try reader.next() {
            if field == 1, case .bytes(let range) = value { type = UntrustedText(decoding: message[range]) }
            if field == 2, case .varint(let value) = value { number = Int(truncatingIfNeeded: value) }
        }
        tell(
            files.firstIndex { $0.extensions.contains { UntrustedText($0.message) == type && $0.number == number } },
            to: &writer)
    }

    private func tellExtensions(of type: UntrustedText, to writer: inout WireWriter) {
        let numbers = files.flatMap(\.extensions).filter { UntrustedText($0.message) == type }.map(\.number)
        guard symbols[type] != nil else { return tellNothing(to: &writer) }
        writer.field(Reflection.Answer.extensionNumbers) { writer in
            writer.field(1, text: type)
            for number in numbers { writer.field(2, int64: Int64(number)) }
        }
    }

    private func tellNothing(to writer: inout WireWriter) {
        writer.field(Reflection.Answer.error) { error in
            error.field(1, int64: Int64(Status.Code.notFound.rawValue))
            error.field(2, text: "There is nothing of that name.")
        }
    }
}
